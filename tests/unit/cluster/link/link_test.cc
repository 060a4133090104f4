#include "cluster/link/link.h"

#include <catch2/catch.hpp>
#include <optional>

#include "tests/unit/cluster/link/router_end.h"

namespace cluster {
namespace {

using Catch::Contains;

struct Joined {
  runtime::Loop loop;
  Told told;
  std::optional<RouterEnd> router;
  std::unique_ptr<Link> link;

  explicit Joined(const Link::Options& options = {}) {
    StreamPair pair = stream_pair();
    router.emplace(std::move(pair.theirs));
    auto made = Link::start(loop, std::move(pair.ours), {.host = "router", .port = 80}, "secret",
                            told, options);
    REQUIRE(made);
    link = std::move(made).value();
  }
  void until(const std::function<bool()>& is_so) { turn_until(loop, is_so); }
  void until_over() {
    until([this] { return told.overs > 0; });
  }
  std::string asked() {
    std::string request;
    until([&] {
      request += router->take();
      return request.ends_with("\r\n\r\n");
    });
    return request;
  }
  void open(const std::string& at_once = "") {
    router->say(router->answer_to(asked()) + at_once);
    until([this] { return told.opened > 0; });
  }
  std::string hear_one() {
    std::vector<std::string> heard;
    until([&] { return !(heard = router->hear()).empty(); });
    REQUIRE(heard.size() == 1);
    return heard.front();
  }
};

}  // namespace

TEST_CASE("a link asks to join, and carries messages in both directions", "[cluster][link]") {
  Joined joined;
  CHECK_FALSE(joined.link->is_open());
  joined.link->send("early");
  CHECK(joined.link->unsent() >= 5);
  joined.open();
  CHECK(joined.link->is_open());
  CHECK(joined.router->request.path == "/v1/pilots/join");
  CHECK(*joined.router->request.header("authorization") == "Bearer secret");
  CHECK(joined.hear_one() == "early");
  joined.router->frames.send_bytes(std::string("a\0b", 3));
  joined.router->frames.send_bytes("");
  joined.router->say(joined.router->frames.take_output());
  joined.until([&] { return joined.told.messages.size() == 2; });
  CHECK(joined.told.messages == std::vector<std::string>{std::string("a\0b", 3), ""});
  joined.link->send("answer");
  CHECK(joined.hear_one() == "answer");
  CHECK(joined.link->unsent() == 0);
  CHECK(joined.told.overs == 0);
}

TEST_CASE("messages that come together with the answer are not lost", "[cluster][link]") {
  Joined joined;
  service::Frames first(16);
  first.send_bytes("first");
  joined.open(first.take_output());
  joined.until([&] { return !joined.told.messages.empty(); });
  CHECK(joined.told.messages.front() == "first");
}

TEST_CASE("a long message waits for room, and its listener hears of it", "[cluster][link]") {
  Joined joined;
  joined.open();
  std::string bytes(size_t{5} << 20, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 255);
  joined.link->send(bytes);
  joined.link->send("behind it");
  CHECK(joined.link->unsent() > 0);
  std::vector<std::string> heard;
  joined.until([&] {
    if (joined.told.rooms > 0) CHECK(joined.link->unsent() == 0);
    for (std::string& message : joined.router->hear()) heard.push_back(std::move(message));
    return heard.size() == 2;
  });
  CHECK(heard.front() == bytes);
  CHECK(heard.back() == "behind it");
  joined.until([&] { return joined.told.rooms > 0; });
}

TEST_CASE("a link that is refused says why, once", "[cluster][link]") {
  Joined joined;
  (void)joined.asked();
  const std::string body = R"({"error":{"code":"forbidden","message":"this token may not join"}})";
  joined.router->say("HTTP/1.1 403 Forbidden\r\nContent-Length: " + std::to_string(body.size()) +
                     "\r\n\r\n" + body);
  joined.until_over();
  CHECK(joined.told.why == "the router answers 403 Forbidden: this token may not join");
  CHECK(joined.told.opened == 0);
  joined.router->hang_up();
  joined.link->send("x");
  joined.link->close(1000, "");
  for (int turns = 0; turns < 5; ++turns) joined.until([] { return true; });
  CHECK(joined.told.overs == 1);
}

TEST_CASE("a router that hangs up ends the link", "[cluster][link]") {
  Joined joined;
  const bool opened = GENERATE(true, false);
  opened ? joined.open() : (void)joined.asked();
  joined.router->hang_up();
  joined.until_over();
  CHECK_THAT(joined.told.why, Contains(opened ? "without a word" : "without an answer"));
}

TEST_CASE("a router's close is answered, and its reason told", "[cluster][link]") {
  Joined joined;
  joined.open();
  joined.router->frames.send_bytes("last");
  joined.router->frames.close(4003, "your lease is over");
  joined.router->say(joined.router->frames.take_output());
  std::string answer;
  joined.until([&] {
    answer += joined.router->take();
    return joined.router->ended;
  });
  CHECK(answer.size() > 2);
  CHECK(answer.front() == '\x88');
  CHECK(joined.told.overs == 0);  // not before the router has hung up
  joined.router->hang_up();
  joined.until_over();
  CHECK(joined.told.messages == std::vector<std::string>{"last"});
  CHECK(joined.told.why == "the router has closed the connection: 4003, your lease is over");
}

TEST_CASE("a link that is closed says so behind all it has sent", "[cluster][link]") {
  Joined joined;
  joined.open();
  joined.link->send("last");
  joined.link->close(1001, "leaving");
  joined.link->send("too late");
  std::vector<std::string> heard;
  joined.until([&] {
    for (std::string& message : joined.router->hear()) heard.push_back(std::move(message));
    return joined.router->ended;
  });
  CHECK(heard == std::vector<std::string>{"last"});
  CHECK(joined.router->frames.closed_by_peer_with() == 1001);
  CHECK(joined.router->frames.reason_of_peer() == "leaving");
  joined.router->hang_up();
  joined.until_over();
  CHECK(joined.told.why == "closed: leaving");
}

TEST_CASE("a router that does not hang up is left", "[cluster][link]") {
  Joined joined({.goodbye = sys::Milliseconds(1)});
  joined.open();
  joined.link->close(1001, "leaving");
  joined.until_over();
  CHECK(joined.told.why == "closed: leaving");
}

TEST_CASE("a router that says what it may not is left", "[cluster][link]") {
  Joined joined({.message = 4, .goodbye = sys::Milliseconds(1)});
  joined.open();
  service::Frames router(16);
  SECTION("a message that is too long") { router.send_bytes("12345"); }
  SECTION("text") { router.send("abc"); }
  std::string bytes = router.take_output();
  SECTION("a masked frame") { bytes = std::string("\x82\x81\0\0\0\0x", 7); }
  SECTION("no frame") { bytes = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"; }
  joined.router->say(bytes);
  joined.until_over();
  CHECK(joined.told.messages.empty());
  std::string said;
  joined.until([&] {
    said += joined.router->take();
    return !said.empty();
  });
  CHECK(said.front() == '\x88');
}

TEST_CASE("a router that does not answer is left", "[cluster][link]") {
  Joined joined({.upgrade = sys::Milliseconds(1)});
  joined.until_over();
  CHECK(joined.told.why == "the router has not answered in time");
}

TEST_CASE("a router that answers pings stays, and one that does not is left", "[cluster][link]") {
  Joined joined({.ping = sys::Milliseconds(5)});
  joined.open();
  size_t pongs = 0;
  joined.until([&] {
    (void)joined.router->hear();
    const std::string pong = joined.router->frames.take_output();
    if (!pong.empty()) joined.router->say(pong), ++pongs;
    return pongs == 5 || joined.told.overs > 0;
  });
  CHECK(joined.told.overs == 0);
  joined.until_over();
  CHECK(joined.told.why == "the router has not answered a ping");
}

TEST_CASE("a router that pings and takes no answer is left", "[cluster][link]") {
  Joined joined;
  joined.open();
  service::Frames router(16);
  std::string pings;
  for (int i = 0; i < 10'000; ++i) router.ping();
  pings = router.take_output();
  REQUIRE(pings.size() == 20'000);
  constexpr size_t kPing = 2;
  size_t said = 0;
  int rounds = 0;
  joined.until([&] {
    if (joined.told.overs == 0)
      said += joined.router->say_some(std::string_view(pings).substr(said % kPing));
    return joined.told.overs > 0 || ++rounds > 1'000'000;
  });
  CHECK_THAT(joined.told.why, Contains("takes no answer"));
}

TEST_CASE("a link may be closed inside a message and destroyed at its end", "[cluster][link]") {
  Joined joined({.goodbye = sys::Milliseconds(1)});
  joined.told.hears = [&] { joined.link->close(1000, "enough"); };
  joined.told.ends = [&] { joined.link.reset(); };
  joined.open();
  joined.router->frames.send_bytes("one");
  joined.router->frames.send_bytes("two");
  joined.router->say(joined.router->frames.take_output());
  joined.until_over();
  CHECK_FALSE(joined.link);
  CHECK(joined.told.messages == std::vector<std::string>{"one"});
  CHECK(joined.told.why == "closed: enough");
}

TEST_CASE("a link that is destroyed tells nothing more", "[cluster][link]") {
  Joined joined;
  joined.open();
  joined.router->hang_up();
  joined.link.reset();
  for (int turns = 0; turns < 5; ++turns) joined.until([] { return true; });
  CHECK(joined.told.overs == 0);
}

}  // namespace cluster
