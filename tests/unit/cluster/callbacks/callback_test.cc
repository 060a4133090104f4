#include "cluster/callbacks/callback.h"

#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/sys/socket.h"
#include "tests/unit/cluster/link/router_end.h"

namespace cluster {
namespace {

constexpr sys::Milliseconds kForLong{3'600'000}, kAtOnce{1};

// A receiver of callbacks, and the process that connects to it.
struct Receiver {
  runtime::Loop loop;
  sys::SocketPair process = sys::seqpacket_pair().value();
  Dialer dialer{loop,
                {.start =
                     [this](const DialerProcesses::Then& then) {
                       then(DialerProcesses::Started{std::move(process.ours), 1});
                     }},
                sys::Milliseconds(0)};
  std::vector<sys::OwnedFd> connections;
  unsigned refuses = 0;  // so many connections
  runtime::Readable asked{loop, process.theirs.get(), [this] { hand_over(); }};
  std::optional<std::string> why;  // of the end
  unsigned overs = 0;

  Receiver() { asked.start(); }

  void hand_over() {
    std::byte ask{};
    REQUIRE(sys::receive_message(process.theirs.get(), {&ask, 1}));
    HandedOver answer;
    if (refuses > 0) {
      --refuses;
      std::string("Connection refused").copy(answer.why, sizeof answer.why);
      REQUIRE(sys::send_message(process.theirs.get(), sys::bytes_of(answer)));
      return;
    }
    StreamPair pair = stream_pair();
    const int given = pair.ours.get();
    REQUIRE(sys::send_message(process.theirs.get(), sys::bytes_of(answer), {&given, 1}));
    connections.push_back(std::move(pair.theirs));
  }

  std::shared_ptr<Callback> call(const std::string& body = "{}",
                                 sys::Milliseconds patience = kForLong) {
    auto callback = std::make_shared<Callback>(
        parse_callback_url("http://grader.example:81/hooks?id=7").value(), body, nullptr,
        Callback::House{.loop = loop,
                        .dialer = dialer,
                        .over =
                            [this](const auto&, const std::string& said) {
                              ++overs;
                              why = said;
                            },
                        .patience = patience,
                        .pause = kAtOnce});
    callback->start();
    return callback;
  }
  void until_connected(size_t count) {
    turn_until(loop, [&] { return connections.size() == count; });
  }
  void until_over() {
    turn_until(loop, [&] { return why.has_value(); });
  }
  // All that has been said, up to its end.
  std::string hear(const std::string& end) {
    std::string all;
    turn_until(loop, [&] {
      char bytes[4096];
      const ssize_t n = ::recv(connections.back().get(), bytes, sizeof bytes, 0);
      if (n > 0) all.append(bytes, static_cast<size_t>(n));
      return all.ends_with(end);
    });
    return all;
  }
  void say(const std::string& text) {
    REQUIRE(::send(connections.back().get(), text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
  }
};

}  // namespace

TEST_CASE("callback: one PUT with JSON", "[callbacks]") {
  Receiver receiver;
  const auto callback = receiver.call(R"({"token":"t"})");
  receiver.until_connected(1);
  CHECK(receiver.hear("}") ==
        "PUT /hooks?id=7 HTTP/1.1\r\nHost: grader.example:81\r\nContent-Type: application/json\r\n"
        "Content-Length: 13\r\nConnection: close\r\n\r\n{\"token\":\"t\"}");
  receiver.say("HTTP/1.1 204 No Content\r\n\r\n");
  receiver.until_over();
  CHECK(receiver.why->empty());
  CHECK(receiver.overs == 1);
}

TEST_CASE("callback: any answer ends it", "[callbacks]") {
  Receiver receiver;
  const auto callback = receiver.call();
  receiver.until_connected(1);
  receiver.say("HTTP/1.1 503 Busy\r\nContent-Length: 100\r\n\r\n");
  receiver.until_over();
  CHECK(*receiver.why == "it answers with status 503");
  CHECK(receiver.connections.size() == 1);
}

TEST_CASE("callback: it is tried again where nobody answers", "[callbacks]") {
  Receiver receiver;
  SECTION("a connection that is refused") {
    receiver.refuses = 2;
    const auto callback = receiver.call();
    receiver.until_connected(1);
    receiver.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    receiver.until_over();
    CHECK(receiver.why->empty());
  }
  SECTION("one that is closed") {
    const auto callback = receiver.call();
    receiver.until_connected(1);
    receiver.connections.back() = sys::OwnedFd();
    receiver.until_connected(2);
    receiver.hear("{}");
    receiver.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    receiver.until_over();
    CHECK(receiver.why->empty());
  }
  SECTION("one on which nothing is said") {
    const auto callback = receiver.call("{}", sys::Milliseconds(20));
    receiver.until_over();
    CHECK(*receiver.why == "no answer in time");
    CHECK(receiver.connections.size() == service::Callbacks::kMostTries);
  }
  SECTION("but not for ever") {
    receiver.refuses = 100;
    const auto callback = receiver.call();
    receiver.until_over();
    CHECK(*receiver.why == "Connection refused");
    CHECK(receiver.refuses == 100 - service::Callbacks::kMostTries);
  }
  SECTION("nor what is no answer of HTTP") {
    const std::string said = GENERATE("SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 100 Continue\r\n\r\n");
    const auto callback = receiver.call();
    for (size_t number = 1; number <= service::Callbacks::kMostTries; ++number) {
      receiver.until_connected(number);
      receiver.say(said);
    }
    receiver.until_over();
    CHECK(*receiver.why == "its answer is no HTTP, or breaks off");
  }
  CHECK(receiver.overs == 1);
}

TEST_CASE("callback: one that nobody owns any more goes no further", "[callbacks]") {
  Receiver receiver;
  receiver.call().reset();  // its connection has been asked for
  receiver.call().reset();
  const auto last = receiver.call();
  receiver.until_connected(2);
  receiver.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  receiver.until_over();
  CHECK(receiver.overs == 1);
}

}  // namespace cluster
