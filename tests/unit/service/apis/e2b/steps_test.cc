#include "service/apis/e2b/steps.h"

#include <sys/socket.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "service/apis/e2b/parts.h"
#include "service/http/connection.h"
#include "tests/unit/service/apis/session_scene.h"

namespace service::e2b {

namespace {

using Words = std::vector<std::string>;

// A client that has sent one request.
class Client : public ConnectionHost {
 public:
  explicit Client(runtime::Loop& loop) : loop_(loop) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    own_ = sys::OwnedFd(ends[0]);
    connection_ =
        std::make_unique<Connection>(loop, sys::OwnedFd(ends[1]), Peer{"test"}, limits_, *this);
    constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    REQUIRE(::send(ends[0], kRequest.data(), kRequest.size(), 0) ==
            static_cast<ssize_t>(kRequest.size()));
    loop.run();
  }
  void leave() { connection_->drop(); }

  ExchangePtr exchange;

 private:
  void handle(ExchangePtr given) override {
    exchange = std::move(given);
    loop_.stop();
  }
  void finished(const Exchange&) override {}
  void refused(const Peer&, int) override {}
  void over(Connection&) override {}
  bool draining() const override { return false; }
  Allowance& bodies() override { return bodies_; }
  void aside(const std::string&, std::function<void()> work, std::function<void()> then) override {
    work();
    then();
  }
  std::string client_of(const Request&, const Peer& peer) override { return peer.name; }
  std::optional<Response> place_for(Connection&, const Request&, Allowance::Share&) override {
    return std::nullopt;
  }

  runtime::Loop& loop_;
  Allowance bodies_{size_t{1} << 20};
  const ConnectionLimits limits_{};
  sys::OwnedFd own_;
  std::unique_ptr<Connection> connection_;
};

// A sandbox "a" with the contexts "c" and "d", whose steps end when the engine is told to run them.
struct Rooms {
  SessionScene scene;
  SandboxStore store{SandboxStore::Limits{}};
  Steps steps{scene.sessions, store, scene.loop, "e2b"};
  Words told, parents, nodes;
  size_t awaited = 0;

  Rooms() {
    scene.await(scene.begin("ann"));
    Sandbox made{.id = "a", .owner = "ann", .client = "ann"};
    made.first = {scene.begun.session, scene.begun.node};
    for (const char* id : {"c", "d"}) made.contexts.push_back({.id = id, .now = made.first});
    store.add(std::move(made));
    scene.engine.paused = true;
  }
  Sandbox& sandbox() { return *store.find("a"); }

  Steps::Task task(const std::string& source, const std::function<void()>& then = nullptr) {
    Steps::Task made;
    made.fill = [source](runtime::Job& job) { job.source = source; };
    made.note = "{}";
    made.told = [this, source, then](Steps::Outcome outcome) {
      told.push_back(source + words_of(outcome));
      if (then) then();
      if (told.size() == awaited) scene.loop.stop();
    };
    return made;
  }
  std::string words_of(const Steps::Outcome& outcome) {
    if (const auto* no = std::get_if<ForeignSessions::Refusal>(&outcome))
      return " refused " + std::to_string(no->status);
    const auto& ran = std::get<ForeignSessions::Ran>(outcome);
    parents.push_back(ran.finished.step ? ran.finished.step->parent : "");
    nodes.push_back(ran.node);
    return ran.kept ? " kept" : " not kept";
  }
  // Until so many have been told something.
  void await(size_t count) {
    awaited = count;
    if (told.size() < count) scene.loop.run();
    REQUIRE(told.size() == count);
  }
  void run_and_await(size_t count) {
    scene.engine.run_all();
    await(count);
  }
};

}  // namespace

TEST_CASE("whoever is told that something was dropped may end the sandbox", "[apis][e2b]") {
  Rooms rooms;
  rooms.steps.change(rooms.sandbox(), "c", rooms.task("runs"));
  rooms.steps.change(rooms.sandbox(), "c", rooms.task("waits", [&] { rooms.store.remove("a"); }));

  rooms.steps.drop("a", "c", "it was paused");

  CHECK(rooms.told.empty());
  CHECK(rooms.store.find("a"));
  rooms.await(1);
  CHECK_FALSE(rooms.store.find("a"));
  rooms.run_and_await(2);
  CHECK(rooms.told == Words{"waits refused 409", "runs refused 409"});
  CHECK(rooms.scene.engine.forgotten == Words{"n-2"});  // what it left nevertheless
}

TEST_CASE("all that wait for a context that is gone are told", "[apis][e2b]") {
  Rooms rooms;
  for (const char* source : {"runs", "waits", "waits, too"})
    rooms.steps.change(rooms.sandbox(), "d", rooms.task(source));

  rooms.store.remove_context(rooms.sandbox(), "d");

  rooms.run_and_await(3);
  CHECK(rooms.told == Words{"runs refused 409", "waits refused 409", "waits, too refused 409"});
}

TEST_CASE("whoever waits and has left is told so, and takes no place", "[apis][e2b]") {
  Rooms rooms;
  Client client(rooms.scene.loop);
  const auto left = [&] {
    Steps::Task task = rooms.task("left");
    task.exchange = client.exchange;
    return task;
  };
  rooms.steps.change(rooms.sandbox(), "c", rooms.task("runs"));
  for (size_t i = 0; i < Steps::kMostWaiting; ++i)
    CHECK(rooms.steps.change(rooms.sandbox(), "c", left()));
  CHECK_FALSE(rooms.steps.change(rooms.sandbox(), "c", rooms.task("next")));

  client.leave();

  CHECK(rooms.steps.change(rooms.sandbox(), "c", rooms.task("next")));
  rooms.run_and_await(Steps::kMostWaiting + 1);
  CHECK(std::ranges::count(rooms.told, std::string("left refused 409")) ==
        static_cast<ptrdiff_t>(Steps::kMostWaiting));
  rooms.run_and_await(Steps::kMostWaiting + 2);
  CHECK(rooms.told.back() == "next kept");
}

TEST_CASE("a context that is held goes on where it is told to, with what came meanwhile",
          "[apis][e2b]") {
  Rooms rooms;
  rooms.steps.change(rooms.sandbox(), "c", rooms.task("before"));
  rooms.sandbox().usual().executions = 7;

  const uint64_t held = rooms.steps.hold("a", "c", "it was restarted");
  rooms.steps.change(rooms.sandbox(), "c", rooms.task("after"));
  rooms.steps.branch(rooms.sandbox(), rooms.sandbox().first, rooms.task("anew"));
  rooms.run_and_await(2);
  CHECK(rooms.told == Words{"before refused 409", "anew kept"});
  const State now{rooms.sandbox().first.session, rooms.nodes.back()};
  CHECK(rooms.steps.resume("a", "c", held, &now));

  CHECK(rooms.sandbox().usual().executions == 0);
  rooms.run_and_await(3);
  CHECK(rooms.told.back() == "after kept");
  CHECK(rooms.parents.back() == now.node);
}

TEST_CASE("a context that is not renewed goes on where it was", "[apis][e2b]") {
  Rooms rooms;
  uint64_t held = rooms.steps.hold("a", "c", "it was restarted");
  rooms.steps.change(rooms.sandbox(), "c", rooms.task("after"));
  CHECK(rooms.steps.resume("a", "c", held, nullptr));
  rooms.run_and_await(1);
  CHECK(rooms.parents.back() == rooms.sandbox().first.node);

  held = rooms.steps.hold("a", "c", "it was restarted");
  rooms.steps.drop("a", "c", "it was paused");
  CHECK_FALSE(rooms.steps.resume("a", "c", held, nullptr));
}

TEST_CASE("what a step did that was dropped is told as that, though its parent has left, too",
          "[apis][e2b]") {
  Rooms rooms;
  rooms.steps.change(rooms.sandbox(), "c", rooms.task("before"));
  rooms.run_and_await(1);
  rooms.steps.change(rooms.sandbox(), "c", rooms.task("runs"));

  rooms.steps.drop("a", "c", "it was restarted");
  Sandbox& sandbox = rooms.sandbox();
  rooms.steps.forget(rooms.store.set(sandbox, sandbox.usual(), sandbox.first));

  rooms.run_and_await(2);
  CHECK(rooms.told.back() == "runs refused 409");
}

TEST_CASE("a session lives until whoever began a state in it has been told", "[apis][e2b]") {
  Rooms rooms;
  rooms.scene.engine.paused = false;
  rooms.scene.await(rooms.scene.begin("ann"));
  rooms.scene.engine.paused = true;
  const State other{rooms.scene.begun.session, rooms.scene.begun.node};
  const auto go_on = [&] {
    rooms.store.set_first(rooms.sandbox(), {other.session, rooms.nodes.back()});
  };

  rooms.steps.branch(rooms.sandbox(), other, rooms.task("anew", go_on));
  rooms.run_and_await(1);

  CHECK(rooms.scene.keeper.book().has_session(other.session));
  CHECK(rooms.scene.keeper.book().has_node(rooms.nodes.back()));
  CHECK(rooms.scene.engine.forgotten == Words{other.node});
}

TEST_CASE("what looks leaves nothing", "[apis][e2b]") {
  Rooms rooms;
  rooms.steps.look(rooms.sandbox(), rooms.sandbox().usual().now, rooms.task("looks"));

  rooms.run_and_await(1);

  CHECK(rooms.told == Words{"looks not kept"});
  CHECK(rooms.scene.keeper.book().steps() == 1);
  CHECK(rooms.scene.engine.forgotten.empty());
}

TEST_CASE("a sandbox's log does not grow with its steps", "[apis][e2b]") {
  Rooms rooms;
  for (size_t i = 1; i <= 5; ++i) {
    rooms.steps.change(rooms.sandbox(), "c", rooms.task(std::string(100'000, '#')));
    rooms.run_and_await(i);
  }

  CHECK(rooms.scene.keeper.book().steps() == 2);
  CHECK(rooms.scene.keeper.book().bytes() < 10'000);
}

TEST_CASE("a state that the engine has kept, but its session has not, is none", "[apis][e2b]") {
  Rooms rooms;
  rooms.steps.change(rooms.sandbox(), "c", rooms.task("runs"));
  rooms.scene.sessions.end("ann", rooms.sandbox().first.session);

  rooms.run_and_await(1);

  CHECK(rooms.told == Words{"runs refused 507"});
  rooms.steps.change(rooms.sandbox(), "c", rooms.task("next"));
  CHECK(rooms.told.back() == "next refused 410");
}

TEST_CASE("a step that did not come to it has a code that the SDKs know", "[apis][e2b]") {
  const std::pair<int, std::string_view> codes[] = {
      {404, "unavailable"},        {409, "aborted"},  {410, "unavailable"},
      {429, "resource_exhausted"}, {500, "internal"}, {503, "resource_exhausted"},
      {507, "resource_exhausted"}};
  for (const auto& [status, code] : codes) CHECK(error_of({status, "why"}).code == code);
  CHECK(files_refusal(error_of({410, "gone"})).status == 502);
  CHECK(files_refusal(error_of({429, "full"})).status == 429);
}

}  // namespace service::e2b
