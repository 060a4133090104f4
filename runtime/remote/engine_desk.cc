#include "runtime/remote/engine_desk.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <utility>

#include "runtime/judging/judge.h"
#include "runtime/remote/job_wire.h"
#include "sandbox/sys/file.h"

namespace runtime {

using sys::Error;
using sys::Result;

namespace {

// A longer result is written on the loop: a shard's thread has deadlines to keep.
constexpr size_t kLongResult = size_t{256} << 10;

Result<Board> map_board(int fd) {
  void* const at = ::mmap(nullptr, kSeats, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return Error::from_errno("map the board");
  return Board(static_cast<std::atomic<bool>*>(at),
               [](std::atomic<bool>* board) { ::munmap(board, kSeats); });
}

// Read-only for whoever maps it from now on (Linux 5.1).
#ifndef F_SEAL_FUTURE_WRITE
constexpr int F_SEAL_FUTURE_WRITE = 0x10;
#endif
Result<void> seal_board(int fd) {
  if (::fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
    return Error::from_errno("seal the board");
  return {};
}

}  // namespace

Result<std::shared_ptr<EngineDesk>> EngineDesk::create(Engine& engine, sys::OwnedFd socket,
                                                       sys::OwnedFd& board_file) {
  board_file = TRY(sys::memfd("zygo-board", kSeats));
  Board mapped = TRY(map_board(board_file.get()));
  TRY(seal_board(board_file.get()));
  return std::make_shared<EngineDesk>(engine, std::move(socket), std::move(mapped));
}

void EngineDesk::enter(const SubmittedJob& submitted) {
  std::lock_guard lock(mutex);
  jobs[submitted.head.number] = {submitted.job.watch, submitted.live, submitted.head.seat};
  if (submitted.head.seat != kNoSeat) ++users[submitted.head.seat];
}

std::function<void(JobResult)> EngineDesk::done_of(uint64_t number) {
  return [self = shared_from_this(), number](JobResult result) {
    if (bytes_made(result) <= kLongResult) return self->end(number, result);
    auto held = std::make_shared<JobResult>(std::move(result));
    self->leave_to_the_loop([self, number, held] { self->end(number, *held); });
  };
}

void EngineDesk::end(uint64_t number, const JobResult& result) {
  Entry entry;
  {
    std::lock_guard lock(mutex);
    auto found = jobs.extract(number);
    if (!found || !wakeup) return;
    entry = std::move(found.mapped());
    with_news.erase(number);
  }
  if (entry.live) send_news(number, *entry.live);
  Packet packet = packed(number, entry, result);
  // The seat is free before the front hears that it is.
  std::lock_guard lock(mutex);
  if (!wakeup) return;
  if (entry.seat != kNoSeat && --users[entry.seat] == 0) seat(entry.seat) = false;
  if (!channel.send(std::move(packet))) wakeup->wake();
}

bool EngineDesk::send_news(uint64_t number, OrderedLive& live) {
  std::lock_guard order(live.order);
  LiveIo::News news = live.io->take();
  WireWriter out = message(MessageKind::kNews, number);
  out(news.stage, news.out, news.err);
  Result<Packet> packet = Channel::packed(out.take());
  if (!packet) return true;  // its output is in its result
  const bool all = channel.send(std::move(*packet));
  std::lock_guard lock(mutex);
  if (!all && wakeup) wakeup->wake();
  return all;
}

void EngineDesk::note_news(uint64_t number) {
  std::lock_guard lock(mutex);
  if (!wakeup || !jobs.contains(number)) return;
  with_news.insert(number);
  wakeup->wake();
}

void EngineDesk::leave_to_the_loop(std::function<void()> work) {
  std::lock_guard lock(mutex);
  if (!wakeup) return;
  to_write.push_back(std::move(work));
  wakeup->wake();
}

void EngineDesk::close() {
  std::unordered_map<uint64_t, Entry> left;
  {
    std::lock_guard lock(mutex);
    wakeup = nullptr;
    left.swap(jobs);
    to_write.clear();
  }
  for (auto& [number, entry] : left) {
    entry.watch->withdrawn = true;
    if (entry.live) entry.live->io->leave();
  }
}

Packet EngineDesk::packed(uint64_t number, const Entry& entry, const JobResult& result) {
  const auto written = [&](const JobResult& said) {
    WireWriter out = message(MessageKind::kResult, number);
    out.reserve(bytes_made(said) + (size_t{1} << 10));
    EngineCounts counts = engine.counts();
    out(entry.watch->started.load(), counts, counts.sessions);
    write_result(said, out);
    write_step(said, out);
    return Channel::packed(out.take());
  };
  Result<Packet> packet = written(result);
  if (packet) return std::move(*packet);
  JobResult without = result;
  give_up(without, {shim::Step::kInput, packet.error().code(), packet.error().text()});
  return written(without).value();  // short, and so no file
}

}  // namespace runtime
