// Both ends of a channel in one loop, with an engine whose jobs the test ends.

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <map>

#include "runtime/builds/artefact.h"
#include "runtime/remote/engine_client.h"
#include "runtime/remote/engine_host.h"
#include "runtime/remote/job_wire.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/socket.h"

namespace runtime {
namespace {

class HeldEngine : public Engine {
 public:
  struct Held {
    Job job;
    std::function<void(JobResult)> done;
  };
  void submit(Job job, std::function<void(JobResult)> done) override {
    const std::string id = job.id;
    held[id] = {std::move(job), std::move(done)};
  }
  void submit_pair(Job first, std::function<void(JobResult)> first_done, Job second,
                   std::function<void(JobResult)> second_done) override {
    submit(std::move(first), std::move(first_done));
    submit(std::move(second), std::move(second_done));
  }
  unsigned workers() const override { return 3; }
  void cancel_all() override { ++cancelled; }
  void cancel_withdrawn() override { ++looked; }
  void pass_signals() override { ++passed; }
  Standing standing() const override {
    return {sandbox::Level::kContained, sandbox::Layers().with(sandbox::Layer::kSeccomp)};
  }
  Counts counts() const override { return {.cells = 2, .forks = forks}; }
  bool keeps_nodes() const override { return true; }
  void forget_nodes(const std::string& tenant, const std::vector<std::string>& ids) override {
    for (const std::string& id : ids) forgotten.emplace_back(tenant, id);
  }
  std::vector<std::string> why_gone(const std::string& tenant,
                                    const std::vector<std::string>& ids) override {
    std::vector<std::string> all;
    for (const std::string& id : ids) all.push_back(id == "there" ? "" : tenant + " has no " + id);
    return all;
  }

  void end(const std::string& id, std::string out = "") {
    auto ended = held.extract(id);
    JobResult result;
    result.id = id;
    result.verdict.outcome = Outcome::kOk;
    result.out.bytes = std::move(out);
    ended.mapped().done(std::move(result));
  }

  std::map<std::string, Held> held;
  std::vector<std::pair<std::string, std::string>> forgotten;
  int cancelled = 0, looked = 0, passed = 0;
  uint64_t forks = 0;
};

struct Ends {
  Loop loop;
  HeldEngine engine;
  std::string breach = "none";
  std::vector<ServiceState> told;
  std::string objection;
  int stops = 0, reloads = 0;
  bool answers = true;  // else no work aside is ever done
  std::unique_ptr<EngineHost> host;
  sys::OwnedFd theirs, router;
  std::unique_ptr<EngineClient> client;

  explicit Ends(bool with_client = true, bool with_addresses = true) {
    sys::SocketPair pair = std::move(sys::seqpacket_pair()).value();
    EngineHost::Options options;
    options.objection = [this](Job&) { return objection; };
    options.answer = [](Question question) -> sys::Result<Answer> {
      if (question == Question::kConfiguration) return sys::Error::because("line 1");
      return Answer{true, false, "text"};
    };
    options.aside = [this](std::function<void()> work, std::function<void()> done) {
      if (answers) run_aside(loop, std::move(work), std::move(done));
      return true;
    };
    options.tell = [this](ServiceState state) { told.push_back(state); };
    options.over = [this](const std::string& why) {
      breach = why;
      loop.stop();
    };
    if (with_addresses) {
      options.dial = [this](uint32_t index) -> sys::Result<sys::OwnedFd> {
        if (index != 1) return sys::Error::because("no such address");
        sys::SocketPair made = TRY(sys::seqpacket_pair());
        router = std::move(made.theirs);
        return std::move(made.ours);
      };
    }
    host = std::move(EngineHost::start(engine, loop, std::move(pair.ours), options)).value();
    theirs = std::move(pair.theirs);
    if (!with_client) return;
    client = std::move(EngineClient::connect(std::move(theirs))).value();
    client->join(loop, {[this] { ++stops; }, [this] { ++reloads; }});
  }
  ~Ends() {
    client.reset();
    host.reset();
  }

  // Turns of the loop until it is so.
  void until(const std::function<bool()>& is_so) {
    Afterwards look(loop, [&] { is_so() ? loop.stop() : look.start(); });
    look.start();
    loop.run();
  }

  // Sends what a front that is somebody else's sends.
  void send(WireWriter message, std::vector<sys::OwnedFd> fds = {}) {
    const std::string bytes = message.take();
    std::vector<int> numbers;
    for (const sys::OwnedFd& fd : fds) numbers.push_back(fd.get());
    REQUIRE(sys::send_message(theirs.get(), std::as_bytes(std::span(bytes)), numbers));
  }
  void await_breach() {
    loop.run();
    CHECK(breach != "none");
    CHECK_FALSE(breach.empty());
  }
};

Job job_called(const std::string& id) {
  Job job;
  job.id = id;
  job.source = "pass";
  job.watch = std::make_shared<JobWatch>();
  return job;
}

WireWriter submission(uint64_t number, uint8_t flags = 0, uint32_t seat = kNoSeat) {
  WireWriter out = message(MessageKind::kSubmit, number);
  JobHead head{.number = number, .seat = seat, .flags = flags};
  out(head);
  write_job(job_called("x"), out);
  return out;
}

}  // namespace

TEST_CASE("a job goes to the engine and its result comes back", "[remote]") {
  Ends ends;
  CHECK(ends.client->workers() == 3);
  CHECK(ends.client->standing().level == sandbox::Level::kContained);
  CHECK(ends.client->standing().layers.has(sandbox::Layer::kSeccomp));
  Job job = job_called("a");
  const auto watch = job.watch;
  std::optional<JobResult> result;
  ends.client->submit(std::move(job), [&](JobResult ended) { result = std::move(ended); });
  ends.until([&] { return ends.engine.held.contains("a"); });
  CHECK_FALSE(watch->has_started());
  ends.engine.held["a"].job.watch->begin();
  CHECK(watch->has_started());
  ends.engine.forks = 7;

  SECTION("a short one") {
    ends.engine.end("a", "out");
    ends.until([&] { return result.has_value(); });
    CHECK(result->out.bytes == "out");
  }
  SECTION("a long one, which no packet holds") {
    ends.engine.end("a", std::string(3 << 20, 'x'));
    ends.until([&] { return result.has_value(); });
    CHECK(result->out.bytes == std::string(3 << 20, 'x'));
  }
  CHECK(result->id == "a");
  CHECK(watch->has_started());
  CHECK(ends.client->counts().forks == 7);
}

TEST_CASE("a seat that was used says nothing of the next job", "[remote]") {
  Ends ends;
  for (const char* id : {"a", "b"}) {
    Job job = job_called(id);
    const auto watch = job.watch;
    bool ended = false;
    ends.client->submit(std::move(job), [&](JobResult) { ended = true; });
    ends.until([&] { return ends.engine.held.contains(id); });
    CHECK_FALSE(watch->has_started());
    ends.engine.held[id].job.watch->begin();
    ends.engine.end(id);
    ends.until([&] { return ended; });
    CHECK(watch->has_started());
  }
}

TEST_CASE("many jobs of one turn all come, short and long", "[remote]") {
  Ends ends;
  for (int i = 0; i < 1000; ++i) {
    Job job = job_called(std::to_string(i));
    if (i % 100 == 0) job.stdin_bytes.assign(1 << 18, 'l');
    ends.client->submit(std::move(job), [](JobResult) {});
  }
  ends.until([&] { return ends.engine.held.size() == 1000; });
  CHECK(ends.engine.held["100"].job.stdin_bytes.size() == 1 << 18);
}

TEST_CASE("a long job is a file, and arrives whole", "[remote]") {
  Ends ends;
  Job job = job_called("a");
  job.stdin_bytes.assign(5 << 20, 'i');
  ends.client->submit(std::move(job), [](JobResult) {});
  ends.until([&] { return ends.engine.held.contains("a"); });
  CHECK(ends.engine.held["a"].job.stdin_bytes == std::string(5 << 20, 'i'));
}

TEST_CASE("what the engine objects to is no job", "[remote]") {
  Ends ends;
  ends.objection = "argv: a NUL inside";
  std::optional<JobResult> result;
  ends.client->submit(job_called("a"), [&](JobResult ended) { result = std::move(ended); });
  ends.until([&] { return result.has_value(); });
  CHECK(result->verdict.outcome == Outcome::kBadJob);
  CHECK(ends.engine.held.empty());
}

TEST_CASE("a job is withdrawn, all are cancelled, a signal is passed on", "[remote]") {
  Ends ends;
  Job job = job_called("a");
  const auto watch = job.watch;
  job.live = std::move(LiveIo::create([] {})).value();
  const auto live = job.live;
  ends.client->submit(std::move(job), [](JobResult) {});
  ends.until([&] { return ends.engine.held.contains("a"); });
  const Job& there = ends.engine.held["a"].job;
  live->signal(15);
  ends.client->pass_signals();
  ends.until([&] { return ends.engine.passed == 1; });
  CHECK(there.live->take_signal() == 15);
  watch->withdrawn = true;
  ends.client->cancel_withdrawn();
  ends.until([&] { return ends.engine.looked > 0; });
  CHECK(there.is_withdrawn());
  ends.client->cancel_all();
  ends.until([&] { return ends.engine.cancelled == 1; });
}

TEST_CASE("a live job reads what its caller writes, and is heard while it runs", "[remote]") {
  Ends ends;
  Job job = job_called("a");
  int woken = 0;
  job.live = std::move(LiveIo::create([&] { ++woken; })).value();
  const auto live = job.live;
  const sys::OwnedFd stdin_fd = live->take_writer();
  std::optional<JobResult> result;
  ends.client->submit(std::move(job), [&](JobResult ended) { result = std::move(ended); });
  ends.until([&] { return ends.engine.held.contains("a"); });
  LiveIo& there = *ends.engine.held["a"].job.live;
  REQUIRE(sys::write_all(stdin_fd.get(), "hello"));
  char read[8] = {};
  CHECK(::read(there.reader(), read, sizeof read) == 5);

  there.begin(LiveIo::Stage::kRunning);
  there.put(Stream::kStdout, "one");
  ends.until([&] { return woken > 0; });
  LiveIo::News news = live->take();
  CHECK(news.stage == LiveIo::Stage::kRunning);
  CHECK(news.out == "one");
  // What comes last is there before the result is.
  there.put(Stream::kStderr, "two");
  ends.engine.end("a");
  ends.until([&] { return result.has_value(); });
  CHECK(live->take().err == "two");
}

TEST_CASE("two jobs that talk with each other have a pair of the engine's own", "[remote]") {
  Ends ends;
  const bool one_way = GENERATE(false, true);
  Job first = job_called("a"), second = job_called("b");
  auto pairing = one_way ? InteractivePair::one_way() : InteractivePair::create();
  first.pairing = second.pairing = *pairing;
  second.side = InteractivePair::Side::kInteractor;
  ends.client->submit_pair(
      std::move(first), [](JobResult) {}, std::move(second), [](JobResult) {});
  ends.until([&] { return ends.engine.held.size() == 2; });
  const Job &one = ends.engine.held["a"].job, &other = ends.engine.held["b"].job;
  REQUIRE(one.pairing);
  CHECK(one.pairing == other.pairing);
  CHECK(one.pairing != *pairing);
  CHECK(one.pairing->is_one_way() == one_way);
  CHECK(one.side == InteractivePair::Side::kProgram);
  CHECK(other.side == InteractivePair::Side::kInteractor);
}

TEST_CASE("a program comes along as a sealed file", "[remote]") {
  Ends ends;
  Job job = job_called("a");
  job.program = std::move(Artefact::create({{"p", "#!/bin/sh\n", true}}, "p", 0)).value();
  ends.client->submit(std::move(job), [](JobResult) {});
  ends.until([&] { return ends.engine.held.contains("a"); });
  const auto& program = ends.engine.held["a"].job.program;
  REQUIRE(program);
  CHECK(program->bytes == 10);
  CHECK(is_sealed(program->program.get()));
}

TEST_CASE("the front asks, tells, and hears what the engine wants", "[remote]") {
  Ends ends;
  std::optional<sys::Result<Answer>> text, why;
  std::thread asks([&] {
    text = ends.client->ask(Question::kRuntimes);
    why = ends.client->ask(Question::kConfiguration);
  });
  ends.client->tell(ServiceState::kReady);
  ends.host->reload();
  ends.host->stop();
  ends.until([&] { return ends.stops == 1 && ends.reloads == 1 && !ends.told.empty(); });
  std::atomic<bool> done{false};
  std::thread joins([&] {
    asks.join();
    done = true;
  });
  ends.until([&] { return done.load(); });
  joins.join();
  REQUIRE(text);
  CHECK((*text)->text == "text");
  CHECK_FALSE((*text)->is_whole);
  CHECK_FALSE(*why);
  CHECK(why->error().text() == "line 1");
  CHECK(ends.told.front() == ServiceState::kReady);
}

TEST_CASE("nodes are freed and asked for, however many there are", "[remote]") {
  Ends ends;
  std::vector<std::string> ids(2 * kMostNodes, "there");
  ids.push_back("n-1");
  ends.client->forget_nodes("ann", ids);
  ends.until([&] { return ends.engine.forgotten.size() == ids.size(); });
  CHECK(ends.engine.forgotten.back() == std::pair<std::string, std::string>("ann", "n-1"));

  std::vector<std::string> why;
  std::atomic<bool> done{false};
  std::thread asks([&] {
    why = ends.client->why_gone("ann", ids);
    done = true;
  });
  ends.until([&] { return done.load(); });
  asks.join();
  REQUIRE(why.size() == ids.size());
  CHECK(why.front().empty());
  CHECK(why.back() == "ann has no n-1");
  CHECK(ends.breach == "none");
}

TEST_CASE("nodes that no front names end it: too many, or too long", "[remote]") {
  Ends ends(false);
  NodeNames nodes{"ann", {std::string(kLongestNode + 1, 'n')}};
  if (GENERATE(false, true)) nodes.ids.assign(kMostNodes + 1, "n");
  WireWriter out = message(MessageKind::kForget);
  out(nodes);
  ends.send(std::move(out));
  ends.await_breach();
  CHECK(ends.engine.forgotten.empty());
}

namespace {

// What the front gets, while the loop runs.
sys::Result<sys::OwnedFd> dialled(Ends& ends, uint32_t index) {
  sys::Result<sys::OwnedFd> found = sys::Error::because("not asked");
  std::atomic<bool> done{false};
  std::thread asks([&] {
    found = ends.client->dial(index);
    done = true;
  });
  ends.until([&] { return done.load(); });
  asks.join();
  return found;
}

}  // namespace

TEST_CASE("the engine dials for the front, and hands the connection over", "[remote]") {
  Ends ends;
  const auto connection = dialled(ends, 1);
  REQUIRE(connection);
  CHECK((::fcntl(connection->get(), F_GETFD) & FD_CLOEXEC) != 0);
  const std::string said = "hello";
  REQUIRE(sys::send_message(connection->get(), std::as_bytes(std::span(said))));
  std::string heard(16, '\0');
  const auto received =
      sys::receive_message(ends.router.get(), std::as_writable_bytes(std::span(heard)));
  REQUIRE(received);
  CHECK(heard.substr(0, received->size) == said);
}

TEST_CASE("what cannot be dialled is answered with the reason", "[remote]") {
  Ends ends;
  for (const uint32_t index : {0u, 2u, ~0u}) {
    const auto refused = dialled(ends, index);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text() == "no such address");
  }
  CHECK(ends.breach == "none");
  CHECK(dialled(ends, 1));  // the front goes on
}

TEST_CASE("a front whose operator gave no address dials nothing", "[remote]") {
  Ends ends(true, false);
  const auto refused = dialled(ends, 0);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text() == "there is nothing to dial");
}

TEST_CASE("an answer without a connection is none to who dials", "[remote]") {
  sys::SocketPair pair = std::move(sys::seqpacket_pair()).value();
  Channel engine(std::move(pair.ours));
  WireWriter hello = message(MessageKind::kHello);
  Hello first{1, 0, 0};
  hello(first);
  Packet greeting{hello.take(), {}};
  greeting.fds.push_back(std::move(sys::memfd("board", kSeats)).value());
  engine.send(std::move(greeting));
  Ends ends(false);
  ends.client = std::move(EngineClient::connect(std::move(pair.theirs))).value();
  ends.client->join(ends.loop, {[] {}, [] {}});
  const size_t brought = GENERATE(0, 2);
  WireWriter out = message(MessageKind::kAnswer, 1);
  Answer empty;
  out(empty);
  Packet answer{out.take(), {}};
  for (size_t i = 0; i < brought; ++i)
    answer.fds.push_back(std::move(sys::open("/dev/null", O_RDONLY)).value());
  std::thread answers([&] {
    REQUIRE(engine.await());
    engine.send(std::move(answer));
  });
  const auto none = dialled(ends, 0);
  answers.join();
  REQUIRE_FALSE(none);
  CHECK(none.error().text() == "the engine's answer is no connection");
}

TEST_CASE("who waits for an answer hears that the service ends", "[remote]") {
  Ends ends(false);
  auto client = std::move(EngineClient::connect(std::move(ends.theirs))).value();
  client->join(ends.loop, {[] {}, [] {}});
  std::optional<sys::Result<Answer>> answer;
  std::thread asks([&] { answer = client->ask(Question::kSelfcheck); });
  client->leave();
  asks.join();
  CHECK_FALSE(*answer);
}

TEST_CASE("who asks while the service ends hears that it does", "[remote]") {
  Ends ends(false);
  auto client = std::move(EngineClient::connect(std::move(ends.theirs))).value();
  client->join(ends.loop, {[] {}, [] {}});
  // Nobody reads: once the socket is full, each message has to wake the loop.
  for (int i = 0; i < 50'000; ++i) client->tell(ServiceState::kReady);
  constexpr int kThreads = 16;
  std::atomic<int> asking{0}, refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ++asking;
      asking.notify_one();
      if (!client->ask(Question::kSelfcheck)) ++refused;
    });
  }
  for (int now = 0; now < kThreads / 2; now = asking) asking.wait(now);
  client->leave();
  for (std::thread& thread : threads) thread.join();
  CHECK(refused == kThreads);
}

TEST_CASE("what is said and asked before the client joins its loop is sent when it does",
          "[remote]") {
  Ends ends(false);
  ends.client = std::move(EngineClient::connect(std::move(ends.theirs))).value();
  // More than the socket has room for, and nobody reads yet.
  constexpr size_t kTold = 20'000;
  for (size_t i = 0; i < kTold; ++i) ends.client->tell(ServiceState::kReady);
  constexpr int kThreads = 8;
  std::atomic<int> asking{0}, answered{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ++asking;
      asking.notify_one();
      if (ends.client->ask(Question::kRuntimes)) ++answered;
    });
  }
  for (int now = 0; now < kThreads; now = asking) asking.wait(now);
  ends.client->join(ends.loop, {[] {}, [] {}});
  ends.until([&] { return ends.told.size() == kTold && answered == kThreads; });
  for (std::thread& thread : threads) thread.join();
  CHECK(answered == kThreads);
}

TEST_CASE("a front that is gone leaves no job behind", "[remote]") {
  Ends ends;
  ends.client->submit(job_called("a"), [](JobResult) {});
  ends.until([&] { return ends.engine.held.contains("a"); });
  ends.client.reset();
  ends.loop.run();
  CHECK(ends.breach.empty());
  ends.host.reset();
  CHECK(ends.engine.held["a"].job.is_withdrawn());
  CHECK(ends.engine.looked > 0);
  ends.engine.end("a");  // nobody hears of it
}

TEST_CASE("whoever says what no front says is ended", "[remote]") {
  Ends ends(false);
  SECTION("no message") { ends.send(WireWriter(message(static_cast<MessageKind>(99)))); }
  SECTION("a message of the engine's") { ends.send(message(MessageKind::kResult, 1)); }
  SECTION("more than the message") {
    WireWriter out = message(MessageKind::kCancelAll);
    out(true);
    ends.send(std::move(out));
  }
  SECTION("a job that is none") {
    WireWriter out = message(MessageKind::kSubmit, 1);
    out(uint64_t{1});
    ends.send(std::move(out));
  }
  SECTION("a number that is taken") {
    ends.send(submission(1));
    ends.send(submission(1));
  }
  SECTION("a seat that does not exist") { ends.send(submission(1, 0, kSeats)); }
  SECTION("a flag that does not exist") { ends.send(submission(1, 4)); }
  SECTION("a signal that does not exist") {
    WireWriter out = message(MessageKind::kSignal, 1);
    out(int32_t{65});
    ends.send(std::move(out));
  }
  SECTION("a question that does not exist") {
    WireWriter out = message(MessageKind::kAsk, 1);
    out(uint8_t{9});
    ends.send(std::move(out));
  }
  SECTION("a dial without an index") {
    WireWriter out = message(MessageKind::kAsk, 1);
    out(Question::kDial);
    ends.send(std::move(out));
  }
  SECTION("an index where none belongs") {
    WireWriter out = message(MessageKind::kAsk, 1);
    out(Question::kSelfcheck, uint32_t{0});
    ends.send(std::move(out));
  }
  SECTION("a descriptor too many") {
    std::vector<sys::OwnedFd> fds;
    fds.push_back(std::move(sys::open("/dev/null", O_RDONLY)).value());
    ends.send(submission(1), std::move(fds));
  }
  SECTION("a descriptor too few") { ends.send(submission(1, JobHead::kLive)); }
  SECTION("a stdin that is no pipe") {
    std::vector<sys::OwnedFd> fds;
    fds.push_back(std::move(sys::open("/dev/null", O_RDONLY)).value());
    ends.send(submission(1, JobHead::kLive), std::move(fds));
  }
  SECTION("a program that can still be changed") {
    std::vector<sys::OwnedFd> fds;
    fds.push_back(std::move(sys::memfd("p", 10)).value());
    ends.send(submission(1, JobHead::kProgram), std::move(fds));
  }
  SECTION("a long message that can still be changed") {
    std::vector<sys::OwnedFd> fds;
    fds.push_back(std::move(sys::memfd("m", 10)).value());
    WireWriter out;
    out('\0');
    ends.send(std::move(out), std::move(fds));
  }
  SECTION("too many questions at once") {
    ends.answers = false;
    for (uint64_t i = 0; i < 20; ++i) {
      WireWriter out = message(MessageKind::kAsk, i);
      out(Question::kSelfcheck);
      ends.send(std::move(out));
    }
  }
  ends.await_breach();
}

}  // namespace runtime
