#include "runtime/remote/engine_host.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "runtime/judging/judge.h"
#include "runtime/judging/refused.h"
#include "runtime/remote/engine_desk.h"
#include "runtime/remote/submission.h"

namespace runtime {

using sys::Error;
using sys::Result;

namespace {

// More than a front has under way: ten for each worker, one for each client.
constexpr size_t kMostJobs = 1 << 16;
constexpr unsigned kMostQuestions = 16;
constexpr int kMostAtOnce = 16;  // messages, before the loop has its turn
constexpr std::chrono::seconds kCountsEvery{1};

JobResult our_fault(const Job& job, shim::Step step, const Error& error) {
  JobResult result;
  result.id = job.id;
  result.tag = job.tag;
  give_up(result, {step, error.code(), error.text()});
  return result;
}

}  // namespace

Result<std::unique_ptr<EngineHost>> EngineHost::start(Engine& engine, Loop& loop,
                                                      sys::OwnedFd socket, Options options) {
  sys::OwnedFd board;
  auto desk = TRY(EngineDesk::create(engine, std::move(socket), board));
  std::unique_ptr<EngineHost> host(
      new EngineHost(engine, loop, std::move(desk), std::move(options)));
  host->greet(std::move(board));
  return host;
}

EngineHost::EngineHost(Engine& engine, Loop& loop, std::shared_ptr<EngineDesk> desk,
                       Options options)
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

// A front sends several together where jobs are short.
void EngineHost::receive() {
  for (int i = 0; i < kMostAtOnce && !over_; ++i) {
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
  Said said;
  if (!said.read(kind, in)) return break_off("what is no message of a front");
  obey(kind, number, said);
}

// False: no front says this.
bool EngineHost::Said::read(MessageKind kind, WireReader& in) {
  switch (kind) {
    case MessageKind::kSignal:
      in(signal);
      break;
    case MessageKind::kForget:
      in(nodes);
      break;
    case MessageKind::kAsk:
      in(question);
      if (question == Question::kDial) in(index);
      if (question == Question::kNodes) in(nodes);
      break;
    case MessageKind::kTell:
      in(state);
      break;
    default:
      break;
  }
  const bool are_ids = std::ranges::all_of(
      nodes.ids, [](const std::string& id) { return id.size() <= kLongestNode; });
  return in.at_end() && are_ids && nodes.ids.size() <= kMostNodes;
}

void EngineHost::obey(MessageKind kind, uint64_t number, const Said& said) {
  switch (kind) {
    case MessageKind::kWithdraw:
      return withdraw(number);
    case MessageKind::kSignal:
      return signal(number, said.signal);
    case MessageKind::kCancelAll:
      return engine_.cancel_all();
    case MessageKind::kForget:
      return engine_.forget_nodes(said.nodes.tenant, said.nodes.ids);
    case MessageKind::kAsk:
      return take_question(number, said);
    case MessageKind::kTell:
      return options_.tell(said.state);
    default:
      return break_off("a message that only the engine sends");
  }
}

void EngineHost::take_jobs(Channel::Message message) {
  auto submission = std::make_shared<Submission>();
  const bool is_long = message.is_long();
  submission->message = std::move(message);
  auto take = [this, desk = desk_, submission] {
    if (over_) return;
    if (!submission->wrong.empty()) return break_off(submission->wrong);
    submit(std::move(submission->jobs), submission->one_way);
  };
  if (!is_long) {
    submission->read();
    return take();
  }
  const bool is_aside = options_.aside([submission] { submission->read(); },
                                       [desk = desk_, take] {
                                         if (desk->wakeup) take();
                                       });
  if (is_aside) return;
  submission->read();
  take();
}

// False: no front sends this.
bool EngineHost::admit(const SubmittedJob& submitted) {
  const JobHead& head = submitted.head;
  const bool has_place = head.seat == kNoSeat || head.seat < kSeats;
  std::lock_guard lock(desk_->mutex);
  return has_place && !desk_->jobs.contains(head.number) && desk_->jobs.size() < kMostJobs;
}

void EngineHost::submit(std::vector<SubmittedJob> jobs, bool one_way) {
  for (SubmittedJob& submitted : jobs) {
    if (!admit(submitted)) return break_off("a job that has no place");
    JobWatch& watch = *submitted.job.watch;
    if (options_.holding_for) watch.held = options_.holding_for(watch.client);
    if (submitted.head.seat != kNoSeat) {
      watch.on_start = [board = desk_->board, seat = submitted.head.seat] {
        board.get()[seat] = true;
      };
    }
    if (submitted.live) {
      submitted.live->io->wake_with([desk = std::weak_ptr(desk_), number = submitted.head.number] {
        if (const auto there = desk.lock()) there->note_news(number);
      });
      submitted.job.live = submitted.live->io;
    }
    desk_->enter(submitted);
  }
  for (SubmittedJob& submitted : jobs) {
    const std::string wrong = options_.objection(submitted.job);
    if (wrong.empty()) continue;
    // Of two that talk with each other, neither runs alone.
    for (const SubmittedJob& each : jobs)
      desk_->done_of(each.head.number)(refused(each.job, wrong));
    return;
  }
  if (jobs.size() == 2) return submit_pair(std::move(jobs), one_way);
  const uint64_t number = jobs.front().head.number;
  engine_.submit(std::move(jobs.front().job), desk_->done_of(number));
}

void EngineHost::submit_pair(std::vector<SubmittedJob> jobs, bool one_way) {
  auto pairing = one_way ? InteractivePair::one_way() : InteractivePair::create();
  SubmittedJob &first = jobs[0], &second = jobs[1];
  if (!pairing) {
    for (const SubmittedJob& each : jobs)
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

std::string EngineHost::look_for(const NodeNames& nodes) const {
  std::string lines;
  for (const std::string& why : engine_.why_gone(nodes.tenant, nodes.ids)) lines += why + '\n';
  return lines;
}

void EngineHost::take_question(uint64_t number, const Said& asked) {
  if (questions_ == kMostQuestions) return break_off("too many questions");
  ++questions_;
  const Question question = asked.question;
  if (question == Question::kNodes)
    return send_answer(number, Reply{{true, true, look_for(asked.nodes)}, {}});
  auto found = std::make_shared<Result<Reply>>(Error::because("there is no room for a thread"));
  std::function<void()> find = [found, question, answer = options_.answer] {
    Result<Answer> said = answer(question);
    *found = said ? Result<Reply>(Reply{std::move(*said), {}}) : std::move(said).error();
  };
  if (question == Question::kDial) {
    find = [found, index = asked.index, dial = options_.dial] {
      Result<sys::OwnedFd> connected =
          dial ? dial(index) : Error::because("there is nothing to dial");
      if (!connected) {
        *found = std::move(connected).error();
        return;
      }
      Reply reply;
      reply.fds.push_back(std::move(*connected));
      *found = std::move(reply);
    };
  }
  const bool is_aside = options_.aside(std::move(find), [this, desk = desk_, found, number] {
    if (desk->wakeup) send_answer(number, std::move(*found));
  });
  if (!is_aside) send_answer(number, std::move(*found));
}

void EngineHost::send_answer(uint64_t number, Result<Reply> found) {
  --questions_;
  Reply reply = found ? std::move(*found) : Reply{{false, false, found.error().text()}, {}};
  WireWriter out = message(MessageKind::kAnswer, number);
  out(reply.answer);
  Result<Packet> packet = Channel::packed(out.take(), std::move(reply.fds));
  if (!packet) return break_off("no room for an answer");
  desk_->channel.send(std::move(*packet));
  watch_for_room();
}

// Does the work that the engine's threads have left to the loop.
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
    std::shared_ptr<OrderedLive> live;
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

// Results bring the counts along; this tells those that change while no job ends.
void EngineHost::tell_counts() {
  const Engine::Counts now = engine_.counts();
  if (now != told_) {
    WireWriter out = message(MessageKind::kCounts);
    out(now, now.sessions);
    desk_->channel.send(Packet{out.take(), {}});
    watch_for_room();
  }
  told_ = now;
  counts_due_.start(kCountsEvery);
}

}  // namespace runtime
