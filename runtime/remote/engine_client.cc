#include "runtime/remote/engine_client.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "runtime/builds/artefact.h"
#include "runtime/judging/judge.h"
#include "runtime/remote/held_result.h"
#include "runtime/remote/job_wire.h"
#include "sandbox/sys/file.h"

namespace runtime {

using sys::Error;
using sys::Result;

namespace {

// A job or a result of more bytes is written and read on another thread: the loop has clients to
// answer.
constexpr size_t kLongJob = size_t{1} << 20;
constexpr int kEndsWithTheEngine = 125;

size_t bytes_in(const std::vector<InputFile>& files) {
  size_t bytes = 0;
  for (const InputFile& file : files) bytes += file.content.size();
  return bytes;
}

// Roughly.
size_t bytes_in(const Job& job) {
  size_t bytes = job.source.size() + job.stdin_bytes.size() + job.calls.size() +
                 bytes_in(job.files) + bytes_in(job.run_files);
  for (const TestCase& test : job.tests) {
    bytes += test.stdin_bytes.size() + test.calls.size() + bytes_in(test.files) +
             (test.expect ? test.expect->size() : 0);
  }
  if (job.recorded) bytes += job.recorded->json.size();
  if (job.checker) bytes += job.checker->source.size() + bytes_in(job.checker->files);
  if (job.interactor) bytes += job.interactor->source.size() + bytes_in(job.interactor->files);
  return bytes;
}

JobResult could_not_send(const std::string& id, const std::string& tag, const Error& error) {
  JobResult result;
  result.id = id;
  result.tag = tag;
  Evidence seen;
  seen.fault = Evidence::Fault{shim::Step::kInput, error.code(), error.text()};
  result.verdict = judge(seen, {});
  return result;
}

}  // namespace

struct EngineClient::Draft {
  struct Part {
    JobHead head;
    Job job;
  };
  std::vector<Part> parts;  // two: a pair
  bool one_way = false;
  Result<Packet> packet{Packet{}};

  size_t bytes() const {
    size_t sum = 0;
    for (const Part& part : parts) sum += bytes_in(part.job);
    return sum;
  }

  // Packs one job or a pair. Descriptors stand in the order of the heads: program, stdin.
  void pack() {
    const bool is_pair = parts.size() == 2;
    WireWriter out = message(is_pair ? MessageKind::kSubmitPair : MessageKind::kSubmit);
    out.reserve(bytes() + (size_t{1} << 10));
    if (is_pair) out(one_way);
    std::vector<sys::OwnedFd> fds;
    for (Part& part : parts) {
      out(part.head);
      write_job(part.job, out);
      write_step(part.job, out);
      if (auto failed = take_descriptors(part, fds)) {
        packet = *failed;
        return;
      }
    }
    packet = Channel::packed(out.take(), std::move(fds));
  }

 private:
  static std::optional<Error> take_descriptors(Part& part, std::vector<sys::OwnedFd>& fds) {
    if (part.head.flags & JobHead::kProgram) {
      auto program = sys::duplicate(part.job.program->program.get());
      if (!program) return program.error();
      fds.push_back(std::move(program).value());
    }
    if (part.head.flags & JobHead::kLive) {
      auto reader = sys::duplicate(part.job.live->reader());
      if (!reader) return reader.error();
      fds.push_back(std::move(reader).value());
      part.job.live->reader_sent();
    }
    return std::nullopt;
  }
};

Result<std::unique_ptr<EngineClient>> EngineClient::connect(sys::OwnedFd socket) {
  auto channel = std::make_unique<Channel>(std::move(socket));
  const Channel::Message first = TRY(channel->await());
  WireReader in(first.bytes());
  MessageKind kind{};
  uint64_t number = 0;
  Hello hello;
  in(kind, number, hello);
  if (!in.at_end() || kind != MessageKind::kHello || first.fds.size() != 1)
    return Error::because("the engine's first word is none");
  void* const board = ::mmap(nullptr, kSeats, PROT_READ, MAP_SHARED, first.fds.front().get(), 0);
  if (board == MAP_FAILED) return Error::from_errno("map the board");
  static_assert(sizeof(std::atomic<bool>) == 1 && std::atomic<bool>::is_always_lock_free);
  std::shared_ptr<const std::atomic<bool>> shared(
      static_cast<const std::atomic<bool>*>(board),
      [](const std::atomic<bool>* at) { ::munmap(const_cast<std::atomic<bool>*>(at), kSeats); });
  return std::unique_ptr<EngineClient>(
      new EngineClient(std::move(channel), hello, std::move(shared)));
}

EngineClient::EngineClient(std::unique_ptr<Channel> channel, const Hello& hello,
                           std::shared_ptr<const std::atomic<bool>> board)
    : channel_(std::move(channel)),
      workers_(hello.workers),
      standing_{static_cast<sandbox::Level>(hello.level), sandbox::Layers::from_bits(hello.layers)},
      board_(std::move(board)) {
  for (uint32_t seat = kSeats; seat > 0; --seat) free_seats_.push_back(seat - 1);
}

EngineClient::~EngineClient() { leave(); }

void EngineClient::join(Loop& loop, Orders orders) {
  loop_ = &loop;
  orders_ = std::move(orders);
  {
    std::lock_guard lock(questions_mutex_);
    wakeup_ = std::make_unique<Wakeup>(loop, [this] { send(Packet{}); });
  }
  watch_ = std::make_unique<SocketWatch>(loop, channel_->fd(), [this](SocketWatch::Ready ready) {
    if (ready.writable) watch_->want({.read = true, .write = !channel_->flush()});
    receive();
  });
  watch_->want({.read = true, .write = !channel_->flush()});  // of what was said before
}

void EngineClient::leave() {
  watch_.reset();
  std::lock_guard lock(questions_mutex_);
  left_ = true;
  wakeup_.reset();  // who asks wakes it under the lock
  for (auto& [number, waiting] : questions_)
    waiting.set_value(Error::because("the service is ending"));
  questions_.clear();
}

// Jobs that take turns in one watch have one seat.
void EngineClient::take_seat(Remote& remote) {
  if (!remote.watch) return;
  Seat& seat = seats_[remote.watch.get()];
  if (seat.users++ == 0 && !free_seats_.empty()) {
    seat.number = free_seats_.back();
    free_seats_.pop_back();
    remote.watch->started_elsewhere = {board_, board_.get() + seat.number};
  }
  remote.seat = seat.number;
}

void EngineClient::leave_seat(const Remote& remote) {
  if (!remote.watch) return;
  const auto seat = seats_.find(remote.watch.get());
  if (--seat->second.users > 0) return;
  remote.watch->started_elsewhere.reset();
  if (seat->second.number != kNoSeat) free_seats_.push_back(seat->second.number);
  seats_.erase(seat);
}

uint64_t EngineClient::add(const Job& job, std::function<void(JobResult)> done) {
  Remote& remote = remote_[++last_];
  remote.done = std::move(done);
  remote.watch = job.watch;
  remote.live = job.live;
  remote.id = job.id;
  remote.tag = job.tag;
  take_seat(remote);
  return last_;
}

JobHead EngineClient::head_of(uint64_t number, const Job& job) const {
  JobHead head{.number = number, .seat = remote_.at(number).seat};
  if (job.program && job.program->program) head.flags |= JobHead::kProgram;
  if (job.live) head.flags |= JobHead::kLive;
  return head;
}

void EngineClient::submit(Job job, std::function<void(JobResult)> done) {
  const uint64_t number = add(job, std::move(done));
  Draft draft;
  draft.parts.push_back({head_of(number, job), std::move(job)});
  post(std::move(draft));
}

void EngineClient::submit_pair(Job first, std::function<void(JobResult)> first_done, Job second,
                               std::function<void(JobResult)> second_done) {
  Draft draft;
  draft.one_way = first.pairing && first.pairing->is_one_way();
  const uint64_t one = add(first, std::move(first_done));
  const uint64_t other = add(second, std::move(second_done));
  draft.parts.push_back({head_of(one, first), std::move(first)});
  draft.parts.push_back({head_of(other, second), std::move(second)});
  post(std::move(draft));
}

void EngineClient::post(Draft draft) {
  if (draft.bytes() < kLongJob) {
    draft.pack();
    return post_packed(draft);
  }
  auto held = std::make_shared<Draft>(std::move(draft));
  auto pack = [held] {
    held->pack();
    for (Draft::Part& part : held->parts) part.job = {};  // long to free, too
  };
  run_aside(*loop_, std::move(pack), [this, held] { post_packed(*held); });
}

void EngineClient::post_packed(Draft& draft) {
  for (const Draft::Part& part : draft.parts) {
    Remote& remote = remote_.at(part.head.number);
    remote.sent = draft.packet.ok();
    if (!remote.sent)
      deliver(part.head.number, false, could_not_send(remote.id, remote.tag, draft.packet.error()));
  }
  if (!draft.packet) return;
  send(std::move(*draft.packet));
  for (const Draft::Part& part : draft.parts)
    withdraw(part.head.number, remote_.at(part.head.number));
}

// Tells it once.
void EngineClient::withdraw(uint64_t number, Remote& remote) {
  const bool wanted = remote.watch && remote.watch->withdrawn;
  if (!wanted || !remote.sent || std::exchange(remote.withdrawn, true)) return;
  send(message(MessageKind::kWithdraw, number));
}

void EngineClient::cancel_withdrawn() {
  for (auto& [number, remote] : remote_) withdraw(number, remote);
}

void EngineClient::cancel_all() {
  for (auto& [number, remote] : remote_) {
    if (remote.watch) remote.watch->withdrawn = true;  // those that are not sent yet
  }
  send(message(MessageKind::kCancelAll));
}

void EngineClient::pass_signals() {
  for (auto& [number, remote] : remote_) {
    const int signal = remote.live ? remote.live->take_signal() : 0;
    if (signal == 0) continue;
    WireWriter out = message(MessageKind::kSignal, number);
    out(static_cast<int32_t>(signal));
    send(std::move(out));
  }
}

void EngineClient::send(WireWriter message) { send(Packet{message.take(), {}}); }

// An empty packet: only what waits.
void EngineClient::send(Packet packet) {
  const bool all = packet.bytes.empty() ? channel_->flush() : channel_->send(std::move(packet));
  if (!all && watch_) watch_->want({.read = true, .write = true});
}

void EngineClient::tell(ServiceState state) {
  WireWriter out = message(MessageKind::kTell);
  out(state);
  send(std::move(out));
}

Result<Answer> EngineClient::ask(Question question) { return TRY(put(question, {})).answer; }

Result<sys::OwnedFd> EngineClient::dial(uint32_t index) {
  Reply reply = TRY(put(Question::kDial, {.index = index}));
  if (reply.fds.size() != 1) return Error::because("the engine's answer is no connection");
  return std::move(reply.fds.front());
}

Result<EngineClient::Reply> EngineClient::put(Question question, const Matter& matter) {
  std::future<Result<Reply>> reply;
  {
    std::lock_guard lock(questions_mutex_);
    if (left_) return Error::because("the service is ending");
    const uint64_t number = ++last_question_;
    reply = questions_[number].get_future();
    WireWriter out = message(MessageKind::kAsk, number);
    out(question);
    if (question == Question::kDial) out(matter.index);
    if (question == Question::kNodes) out(matter.nodes);
    // Without a wakeup the client has not joined its loop yet, and join() sends what waits.
    if (!channel_->send(Packet{out.take(), {}}) && wakeup_) wakeup_->wake();
  }
  Reply said = TRY(reply.get());
  if (!said.answer.ok) return Error::because(std::move(said.answer.text));
  return said;
}

void EngineClient::answer(uint64_t number, Reply reply) {
  std::lock_guard lock(questions_mutex_);
  auto waiting = questions_.extract(number);
  if (waiting) waiting.mapped().set_value(std::move(reply));
}

// The next one. If more wait, the loop comes back: looking for one that is not there costs more.
void EngineClient::receive() {
  Result<std::optional<Channel::Message>> message = channel_->receive();
  if (!message) ::_exit(kEndsWithTheEngine);
  if (*message) handle(std::move(**message));
}

void EngineClient::handle(Channel::Message message) {
  WireReader in(message.bytes());
  MessageKind kind{};
  uint64_t number = 0;
  in(kind, number);
  switch (kind) {
    case MessageKind::kResult:
      return message.is_long() ? read_aside(number, std::move(message)) : take_result(number, in);
    case MessageKind::kCounts:
      return in(counts_, counts_.sessions);
    case MessageKind::kNews:
      return take_news(number, in);
    case MessageKind::kAnswer: {
      Reply said;
      in(said.answer);
      said.fds = std::move(message.fds);
      return answer(number, std::move(said));
    }
    case MessageKind::kStop:
      return orders_.stop();
    case MessageKind::kReload:
      return orders_.reload();
    default:
      return;
  }
}

void EngineClient::take_news(uint64_t number, WireReader& in) {
  const auto remote = remote_.find(number);
  if (remote == remote_.end() || !remote->second.live) return;
  LiveIo& live = *remote->second.live;
  auto stage = LiveIo::Stage::kWaiting;
  std::string out, err;
  in(stage, out, err);
  live.begin(stage);
  live.put(Stream::kStdout, out);
  live.put(Stream::kStderr, err);
}

void EngineClient::take_result(uint64_t number, WireReader& in) {
  bool started = false;
  JobResult result;
  in(started, counts_, counts_.sessions);
  if (!read_result(in, result) || !read_step(in, result)) ::_exit(kEndsWithTheEngine);
  deliver(number, started, std::move(result));
}

void EngineClient::read_aside(uint64_t number, Channel::Message message) {
  struct Long {
    Channel::Message message;
    bool started = false, is_result = false;
    Counts counts;
    JobResult result;
  };
  auto held = std::make_shared<Long>();
  held->message = std::move(message);
  auto read = [held] {
    WireReader in(held->message.bytes());
    MessageKind kind{};
    uint64_t again = 0;
    in(kind, again, held->started, held->counts, held->counts.sessions);
    held->is_result = read_result(in, held->result) && read_step(in, held->result);
    held->message = {};
  };
  run_aside(*loop_, std::move(read), [this, number, held] {
    if (!held->is_result) ::_exit(kEndsWithTheEngine);
    counts_ = held->counts;
    deliver(number, held->started, std::move(held->result));
  });
}

void EngineClient::deliver(uint64_t number, bool started, JobResult result) {
  auto ended = remote_.extract(number);
  if (!ended) return;
  Remote& remote = ended.mapped();
  leave_seat(remote);
  if (remote.watch) {
    if (started) remote.watch->started = true;
    hold(result, remote.watch->held);
  }
  remote.done(std::move(result));
}

}  // namespace runtime
