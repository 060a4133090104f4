#include "service/apis/mcp/client_sessions.h"

#include <catch2/catch.hpp>

#include "service/apis/mcp/http_requests.h"
#include "tests/unit/service/apis/mcp/fake_interpreter.h"

namespace service::mcp {
namespace {

using std::chrono::minutes;
using sys::Nanoseconds;

struct Scene {
  FakeWorld world;
  ClientSessions sessions{{.most = 3, .most_of_client = 2, .idle = minutes(30)}};

  std::string add(const std::string& client, Nanoseconds now, bool busy = false) {
    auto made = std::make_shared<Conversation>(std::make_unique<FakeInterpreter>(world), "1");
    if (busy) {
      for (const char* text :
           {R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"x"}})",
            R"({"jsonrpc":"2.0","id":2,"method":"tools/call",
                "params":{"name":"run_python","arguments":{"code":"wait"}}})"})
        made->receive(read_messages(text), {[](const std::string&) {}, [](const std::string&) {}});
    }
    return sessions.add(client, made, now);
  }
};

TEST_CASE("a session is found by its id for its client alone", "[mcp]") {
  Scene scene;
  const std::string id = scene.add("a", minutes(0));
  CHECK(id.size() == 32);
  CHECK(scene.sessions.find(id, "a", minutes(1)));
  CHECK_FALSE(scene.sessions.find(id, "b", minutes(1)));
  CHECK_FALSE(scene.sessions.find("", "a", minutes(1)));
  CHECK_FALSE(scene.sessions.end(id, "b"));
  CHECK(scene.sessions.end(id, "a"));
  CHECK_FALSE(scene.sessions.find(id, "a", minutes(1)));
  CHECK(scene.world.ended == 1);
}

TEST_CASE("a client's new session takes the place of its least recently used one", "[mcp]") {
  Scene scene;
  const std::string first = scene.add("a", minutes(0)), second = scene.add("a", minutes(1));
  const std::string other = scene.add("b", minutes(0));
  CHECK(scene.sessions.find(first, "a", minutes(2)));
  const std::string third = scene.add("a", minutes(3));
  CHECK_FALSE(third.empty());
  CHECK_FALSE(scene.sessions.find(second, "a", minutes(4)));
  CHECK(scene.sessions.find(first, "a", minutes(4)));
  CHECK(scene.sessions.find(other, "b", minutes(4)));
}

TEST_CASE("where all have too many, the client who has the most makes room", "[mcp]") {
  Scene scene;
  const std::string old = scene.add("b", minutes(0));
  const std::string first = scene.add("a", minutes(1)), second = scene.add("a", minutes(2));
  CHECK_FALSE(scene.add("c", minutes(3)).empty());
  CHECK(scene.sessions.find(old, "b", minutes(4)));
  CHECK_FALSE(scene.sessions.find(first, "a", minutes(4)));
  CHECK(scene.sessions.find(second, "a", minutes(4)));
}

TEST_CASE("who has many busy sessions does not keep newcomers from the places of idle ones",
          "[mcp]") {
  Scene scene;
  for (int i = 0; i < 2; ++i) scene.add("a", minutes(i), true);
  const std::string idle = scene.add("b", minutes(2));
  CHECK_FALSE(scene.add("c", minutes(3)).empty());
  CHECK_FALSE(scene.sessions.find(idle, "b", minutes(4)));
}

TEST_CASE("of clients with as many sessions, the one goes that nobody used for longest", "[mcp]") {
  Scene scene;
  const std::string newer = scene.add("a", minutes(2)), older = scene.add("b", minutes(1));
  scene.add("c", minutes(3));
  CHECK_FALSE(scene.add("d", minutes(4)).empty());
  CHECK(scene.sessions.find(newer, "a", minutes(5)));
  CHECK_FALSE(scene.sessions.find(older, "b", minutes(5)));
}

TEST_CASE("a session that is busy makes no room and is not idle", "[mcp]") {
  Scene scene;
  const std::string first = scene.add("a", minutes(0), true);
  scene.add("a", minutes(0), true);
  CHECK(scene.add("a", minutes(1)).empty());
  scene.sessions.end_idle(minutes(60));
  CHECK(scene.sessions.size() == 2);
  CHECK(scene.sessions.next_end() == minutes(90));
}

TEST_CASE("a session that nobody uses ends", "[mcp]") {
  Scene scene;
  CHECK_FALSE(scene.sessions.next_end());
  const std::string id = scene.add("a", minutes(0));
  CHECK(scene.sessions.next_end() == minutes(30));
  scene.sessions.end_idle(minutes(29));
  CHECK(scene.sessions.find(id, "a", minutes(29)));
  scene.sessions.end_idle(minutes(59));
  CHECK(scene.sessions.size() == 0);
}

TEST_CASE("what is no request of the protocol is refused by its headers", "[mcp]") {
  Request request;
  CHECK(refusal_of(request)->status == 415);
  request.headers = {{"content-type", "text/plain"}};
  CHECK(refusal_of(request)->status == 415);
  request.headers = {{"content-type", "Application/JSON; charset=utf-8"}};
  CHECK_FALSE(refusal_of(request));
  request.headers.emplace_back("mcp-protocol-version", "2025-03-26");
  CHECK_FALSE(refusal_of(request));
  request.headers.back().second = "1.0";
  CHECK(refusal_of_version(request)->status == 400);
  request.headers.pop_back();
  request.body.resize(kMostBody + 1);
  CHECK(refusal_of(request)->status == 413);
}

TEST_CASE("events are for those who take them", "[mcp]") {
  Request request;
  CHECK_FALSE(takes_events(request));
  request.headers = {{"accept", "application/json, text/event-stream;q=0.5"}};
  CHECK(takes_events(request));
  request.headers = {{"accept", "text/event"}};
  CHECK_FALSE(takes_events(request));
}

}  // namespace
}  // namespace service::mcp
