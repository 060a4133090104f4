#include "runtime/remote/engine_host.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/builds/artefact.h"
#include "runtime/judging/judge.h"
#include "runtime/remote/job_wire.h"
#include "sandbox/sys/file.h"

namespace runtime {

using sys::Error;
using sys::Result;

namespace {

// More than a front has under way: two for each worker, one for each client.
constexpr size_t kMostJobs = 1 << 16;
constexpr unsigned kMostQuestions = 16;
// A longer result is written on the loop: a shard's thread has deadlines to keep.
constexpr size_t kLongResult = size_t{256} << 10;
constexpr std::chrono::seconds kCountsEvery{1};

using Board = std::shared_ptr<std::atomic<bool>>;

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

bool is_readable_pipe(int fd) {
  struct stat info {};
  const int flags = ::fcntl(fd, F_GETFL);
  return ::fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) && flags >= 0 &&
         (flags & O_ACCMODE) == O_RDONLY;
}

Result<std::shared_ptr<const Artefact>> program_of(sys::OwnedFd fd) {
  struct stat info {};
  if (!is_sealed(fd.get()) || ::fstat(fd.get(), &info) < 0)
    return Error::because("a program that is no sealed file");
  auto artefact = std::make_shared<Artefact>();
  artefact->program = std::move(fd);
  artefact->bytes = static_cast<uint64_t>(info.st_size);
  return std::shared_ptr<const Artefact>(std::move(artefact));
}

JobResult bad_job(const Job& job, const std::string& why) {
  JobResult result;
  result.id = job.id;
  result.tag = job.tag;
  result.verdict = {Outcome::kBadJob, "", By::kCaller, {{"message", why}}};
  return result;
}

JobResult our_fault(const Job& job, shim::Step step, const Error& error) {
  JobResult result;
  result.id = job.id;
  result.tag = job.tag;
  give_up(result, {step, error.code(), error.text()});
  return result;
}

}  // namespace

// What a live job has written leaves in its order, whoever sends it.
struct EngineHost::Live {
  std::shared_ptr<LiveIo> io;
  std::mutex order;
};

// A job of the front.
struct EngineHost::Guest {
  JobHead head;
  Job job;
  std::shared_ptr<Live> live;
};

// What the engine's threads hold, and what may outlive the host.
struct EngineHost::Desk : std::enable_shared_from_this<Desk> {
  struct Entry {
    std::shared_ptr<JobWatch> watch;
    std::shared_ptr<Live> live;
    uint32_t seat = kNoSeat;
  };

  Desk(Engine& served, sys::OwnedFd socket, Board shared)
      : engine(served), channel(std::move(socket)), board(std::move(shared)), users(kSeats) {}

  void enter(const Guest& guest) {
    std::lock_guard lock(mutex);
    jobs[guest.head.number] = {guest.job.watch, guest.live, guest.head.seat};
    if (guest.head.seat != kNoSeat) ++users[guest.head.seat];
  }

  std::function<void(JobResult)> done_of(uint64_t number) {
    return [self = shared_from_this(), number](JobResult result) {
      if (bytes_made(result) <= kLongResult) return self->end(number, result);
      auto held = std::make_shared<JobResult>(std::move(result));
      self->leave_to_the_loop([self, number, held] { self->end(number, *held); });
    };
  }

  void end(uint64_t number, const JobResult& result) {
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

  // False: there is no room for more.
  bool send_news(uint64_t number, Live& live) {
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

  void note_news(uint64_t number) {
    std::lock_guard lock(mutex);
    if (!wakeup || !jobs.contains(number)) return;
    with_news.insert(number);
    wakeup->wake();
  }

  void leave_to_the_loop(std::function<void()> work) {
    std::lock_guard lock(mutex);
    if (!wakeup) return;
    to_write.push_back(std::move(work));
    wakeup->wake();
  }

  // Nobody is there any more.
  void close() {
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

  std::atomic<bool>& seat(uint32_t number) { return board.get()[number]; }

  Engine& engine;
  Channel channel;
  const Board board;
  std::mutex mutex;
  std::unordered_map<uint64_t, Entry> jobs;
  std::vector<uint32_t> users;  // of each seat
  std::set<uint64_t> with_news;
  std::vector<std::function<void()>> to_write;
  Wakeup* wakeup = nullptr;  // none: the host is gone

 private:
  Packet packed(uint64_t number, const Entry& entry, const JobResult& result) {
    const auto written = [&](const JobResult& said) {
      WireWriter out = message(MessageKind::kResult, number);
      out.reserve(bytes_made(said) + (size_t{1} << 10));
      EngineCounts counts = engine.counts();
      out(entry.watch->started.load(), counts);
      write_result(said, out);
      return Channel::packed(out.take());
    };
    Result<Packet> packet = written(result);
    if (packet) return std::move(*packet);
    JobResult without = result;
    give_up(without, {shim::Step::kInput, packet.error().code(), packet.error().text()});
    return written(without).value();  // short, and so no file
  }
};

Result<std::unique_ptr<EngineHost>> EngineHost::start(Engine& engine, Loop& loop,
                                                      sys::OwnedFd socket, Options options) {
  sys::OwnedFd board = TRY(sys::memfd("zygo-board", kSeats));
  Board mapped = TRY(map_board(board.get()));
  TRY(seal_board(board.get()));
  auto desk = std::make_shared<Desk>(engine, std::move(socket), std::move(mapped));
  std::unique_ptr<EngineHost> host(
      new EngineHost(engine, loop, std::move(desk), std::move(options)));
  host->greet(std::move(board));
  return host;
}

EngineHost::EngineHost(Engine& engine, Loop& loop, std::shared_ptr<Desk> desk, Options options)
    : engine_(engine),
      desk_(std::move(desk)),
      options_(std::move(options)),
      wakeup_(loop, [this] { work(); }),
      counts_due_(loop, [this] { tell_counts(); }) {
  desk_->wakeup = &wakeup_;
  watch_ =
      std::make_unique<SocketWatch>(loop, desk_->channel.fd(), [this](SocketWatch::Ready ready) {
        if (ready.writable) work();
        receive();
      });
  watch_->want({.read = true});
  counts_due_.start(kCountsEvery);
}

EngineHost::~EngineHost() {
  desk_->close();
  engine_.cancel_withdrawn();
}

void EngineHost::greet(sys::OwnedFd board) {
  const Engine::Standing standing = engine_.standing();
  WireWriter out = message(MessageKind::kHello);
  Hello hello{engine_.workers(), static_cast<uint8_t>(standing.level), standing.layers.bits()};
  out(hello);
  Packet packet{out.take(), {}};
  packet.fds.push_back(std::move(board));
  desk_->channel.send(std::move(packet));
}

void EngineHost::stop() {
  desk_->channel.send(Packet{message(MessageKind::kStop).take(), {}});
  watch_for_room();
}

void EngineHost::reload() {
  desk_->channel.send(Packet{message(MessageKind::kReload).take(), {}});
  watch_for_room();
}

void EngineHost::break_off(const std::string& breach) {
  if (std::exchange(over_, true)) return;
  watch_->want({});
  options_.over(breach);
}

void EngineHost::receive() {
  constexpr int kAtOnce = 64;
  for (int i = 0; i < kAtOnce && !over_; ++i) {
    Result<std::optional<Channel::Message>> message = desk_->channel.receive();
    if (!message) {
      const bool is_gone = message.error().code() == EPIPE;
      return break_off(is_gone ? "" : message.error().text());
    }
    if (!*message) return;
    handle(std::move(**message));
  }
}

void EngineHost::handle(Channel::Message message) {
  WireReader in(message.bytes());
  MessageKind kind{};
  uint64_t number = 0;
  in(kind, number);
  const bool brings_jobs =
      in.ok() && (kind == MessageKind::kSubmit || kind == MessageKind::kSubmitPair);
  if (brings_jobs) return take_jobs(std::move(message));
  if (!in.ok() || !message.fds.empty()) return break_off("what is no message of a front");
  int32_t signal_number = 0;
  Question question{};
  ServiceState state{};
  switch (kind) {
    case MessageKind::kSignal:
      in(signal_number);
      break;
    case MessageKind::kAsk:
      in(question);
      break;
    case MessageKind::kTell:
      in(state);
      break;
    default:
      break;
  }
  if (!in.at_end()) return break_off("what is no message of a front");
  switch (kind) {
    case MessageKind::kWithdraw:
      return withdraw(number);
    case MessageKind::kSignal:
      return signal(number, signal_number);
    case MessageKind::kCancelAll:
      return engine_.cancel_all();
    case MessageKind::kAsk:
      return take_question(number, question);
    case MessageKind::kTell:
      return options_.tell(state);
    default:
      return break_off("a message that only the engine sends");
  }
}

void EngineHost::take_jobs(Channel::Message message) {
  struct Brought {
    Channel::Message message;
    std::vector<Guest> guests;
    bool one_way = false;
    std::string wrong;

    void read() {
      WireReader in(message.bytes());
      MessageKind kind{};
      uint64_t number = 0;
      in(kind, number);
      if (kind == MessageKind::kSubmitPair) in(one_way);
      size_t taken = 0;
      for (int i = 0; i < (kind == MessageKind::kSubmitPair ? 2 : 1) && wrong.empty(); ++i) {
        Guest& guest = guests.emplace_back();
        in(guest.head);
        if (!read_job(in, guest.job)) wrong = "what is no job";
        if (wrong.empty()) take_descriptors(guest, taken);
      }
      if (wrong.empty() && (!in.at_end() || taken != message.fds.size())) wrong = "more than a job";
      message = {};
    }

    void take_descriptors(Guest& guest, size_t& taken) {
      const uint8_t flags = guest.head.flags;
      const size_t wanted = (flags & JobHead::kProgram ? 1 : 0) + (flags & JobHead::kLive ? 1 : 0);
      if (flags > (JobHead::kProgram | JobHead::kLive) || message.fds.size() < taken + wanted) {
        wrong = "a job without its descriptors";
        return;
      }
      if (flags & JobHead::kProgram) {
        auto program = program_of(std::move(message.fds[taken++]));
        if (!program) {
          wrong = program.error().text();
          return;
        }
        guest.job.program = std::move(program).value();
      }
      if (flags & JobHead::kLive) {
        sys::OwnedFd reader = std::move(message.fds[taken++]);
        if (!is_readable_pipe(reader.get())) {
          wrong = "a stdin that is no pipe";
          return;
        }
        guest.live = std::make_shared<Live>();
        guest.live->io = LiveIo::adopt(std::move(reader));
      }
    }
  };
  auto brought = std::make_shared<Brought>();
  const bool is_long = message.is_long();
  brought->message = std::move(message);
  auto take = [this, desk = desk_, brought] {
    if (over_) return;
    if (!brought->wrong.empty()) return break_off(brought->wrong);
    submit(std::move(brought->guests), brought->one_way);
  };
  if (!is_long) {
    brought->read();
    return take();
  }
  const bool is_aside = options_.aside([brought] { brought->read(); },
                                       [desk = desk_, take] {
                                         if (desk->wakeup) take();
                                       });
  if (is_aside) return;
  brought->read();
  take();
}

// False: no front sends this.
bool EngineHost::admit(const Guest& guest) {
  const JobHead& head = guest.head;
  const bool has_place = head.seat == kNoSeat || head.seat < kSeats;
  std::lock_guard lock(desk_->mutex);
  return has_place && !desk_->jobs.contains(head.number) && desk_->jobs.size() < kMostJobs;
}

void EngineHost::submit(std::vector<Guest> guests, bool one_way) {
  for (Guest& guest : guests) {
    if (!admit(guest)) return break_off("a job that has no place");
    JobWatch& watch = *guest.job.watch;
    if (options_.holding_for) watch.held = options_.holding_for(watch.client);
    if (guest.head.seat != kNoSeat) {
      watch.on_start = [board = desk_->board, seat = guest.head.seat] { board.get()[seat] = true; };
    }
    if (guest.live) {
      guest.live->io->wake_with([desk = std::weak_ptr(desk_), number = guest.head.number] {
        if (const auto there = desk.lock()) there->note_news(number);
      });
      guest.job.live = guest.live->io;
    }
    desk_->enter(guest);
  }
  for (Guest& guest : guests) {
    const std::string wrong = options_.objection(guest.job);
    if (wrong.empty()) continue;
    // Of two that talk with each other, neither runs alone.
    for (const Guest& each : guests) desk_->done_of(each.head.number)(bad_job(each.job, wrong));
    return;
  }
  if (guests.size() == 2) return submit_pair(std::move(guests), one_way);
  const uint64_t number = guests.front().head.number;
  engine_.submit(std::move(guests.front().job), desk_->done_of(number));
}

void EngineHost::submit_pair(std::vector<Guest> guests, bool one_way) {
  auto pairing = one_way ? InteractivePair::one_way() : InteractivePair::create();
  Guest &first = guests[0], &second = guests[1];
  if (!pairing) {
    for (const Guest& each : guests)
      desk_->done_of(each.head.number)(our_fault(each.job, shim::Step::kPair, pairing.error()));
    return;
  }
  first.job.pairing = second.job.pairing = *pairing;
  first.job.side = InteractivePair::Side::kProgram;
  second.job.side = InteractivePair::Side::kInteractor;
  engine_.submit_pair(std::move(first.job), desk_->done_of(first.head.number),
                      std::move(second.job), desk_->done_of(second.head.number));
}

void EngineHost::signal(uint64_t number, int signal) {
  constexpr int kLastSignal = 64;
  if (signal < 1 || signal > kLastSignal) return break_off("a signal that does not exist");
  {
    std::lock_guard lock(desk_->mutex);
    const auto found = desk_->jobs.find(number);
    if (found == desk_->jobs.end() || !found->second.live) return;
    found->second.live->io->signal(signal);
  }
  engine_.pass_signals();
}

// It may have ended meanwhile.
void EngineHost::withdraw(uint64_t number) {
  {
    std::lock_guard lock(desk_->mutex);
    const auto found = desk_->jobs.find(number);
    if (found == desk_->jobs.end()) return;
    found->second.watch->withdrawn = true;
  }
  engine_.cancel_withdrawn();
}

void EngineHost::take_question(uint64_t number, Question question) {
  if (questions_ == kMostQuestions) return break_off("too many questions");
  ++questions_;
  auto found = std::make_shared<Result<Answer>>(Error::because("there is no room for a thread"));
  const bool is_aside =
      options_.aside([found, question, answer = options_.answer] { *found = answer(question); },
                     [this, desk = desk_, found, number] {
                       if (desk->wakeup) send_answer(number, std::move(*found));
                     });
  if (!is_aside) send_answer(number, std::move(*found));
}

void EngineHost::send_answer(uint64_t number, Result<Answer> found) {
  --questions_;
  Answer said = found ? std::move(*found) : Answer{false, false, found.error().text()};
  WireWriter out = message(MessageKind::kAnswer, number);
  out(said);
  Result<Packet> packet = Channel::packed(out.take());
  if (!packet) return break_off("no room for an answer");
  desk_->channel.send(std::move(*packet));
  watch_for_room();
}

// What the engine's threads have left to the loop.
void EngineHost::work() {
  if (over_) return;
  if (!desk_->channel.flush()) return watch_->want({.read = true, .write = true});
  std::vector<std::function<void()>> to_write;
  std::set<uint64_t> with_news;
  {
    std::lock_guard lock(desk_->mutex);
    to_write.swap(desk_->to_write);
    with_news.swap(desk_->with_news);
  }
  for (const auto& write : to_write) write();
  for (const uint64_t number : with_news) {
    std::shared_ptr<Live> live;
    {
      std::lock_guard lock(desk_->mutex);
      const auto found = desk_->jobs.find(number);
      if (found != desk_->jobs.end()) live = found->second.live;
    }
    if (live) desk_->send_news(number, *live);
  }
  watch_for_room();
}

void EngineHost::watch_for_room() {
  if (!over_) watch_->want({.read = true, .write = !desk_->channel.flush()});
}

// What changes while no job ends.
void EngineHost::tell_counts() {
  const Engine::Counts now = engine_.counts();
  if (now != told_) {
    WireWriter out = message(MessageKind::kCounts);
    out(now);
    desk_->channel.send(Packet{out.take(), {}});
    watch_for_room();
  }
  told_ = now;
  counts_due_.start(kCountsEvery);
}

}  // namespace runtime
