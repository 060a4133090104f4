#pragma once
// The other end of a link, in the same loop: a router that does what a test wants.

#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/link/link.h"
#include "runtime/loop/loop.h"
#include "service/http/frames.h"
#include "service/http/handshake.h"
#include "service/http/request_parser.h"

namespace cluster {

struct StreamPair {
  sys::OwnedFd ours, theirs;
};
inline StreamPair stream_pair() {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  return {sys::OwnedFd(ends[0]), sys::OwnedFd(ends[1])};
}

// What a link has told.
struct Told : LinkListener {
  void on_open() override {
    ++opened;
    if (opens) opens();
  }
  void on_message(std::string bytes) override {
    messages.push_back(std::move(bytes));
    if (hears) hears();
  }
  void on_room() override { ++rooms; }
  void on_over(const std::string& reason) override {
    ++overs;
    if (ends) ends();
    why = reason;  // is there, though the link may be no more
  }
  int opened = 0, rooms = 0, overs = 0;
  std::vector<std::string> messages;
  std::string why;
  std::function<void()> opens, hears, ends;
};

// Turns of the loop until it is so.
inline void turn_until(runtime::Loop& loop, const std::function<bool()>& is_so) {
  runtime::Afterwards look(loop, [&] { is_so() ? loop.stop() : look.start(); });
  look.start();
  loop.run();
}

class RouterEnd {
 public:
  explicit RouterEnd(sys::OwnedFd socket) : socket_(std::move(socket)) {}

  // What has come since, as bytes.
  std::string take() {
    std::string all;
    std::array<char, 65536> bytes;
    for (;;) {
      const ssize_t n = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (n == 0) ended = true;
      if (n <= 0) return all;
      all.append(bytes.data(), static_cast<size_t>(n));
    }
  }
  void say(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      REQUIRE(n > 0);
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  // As much as the socket takes; how much that is.
  size_t say_some(std::string_view bytes) {
    const ssize_t n =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return n < 0 ? 0 : static_cast<size_t>(n);
  }
  void hang_up() { socket_.reset(); }

  // Understands the request, and answers as a service of ours does.
  std::string answer_to(const std::string& asked) {
    service::RequestParser parser({.head = 4096, .target = 64, .headers = 16, .body = 64});
    parser.feed(asked);
    REQUIRE(parser.state() == service::RequestParser::State::kComplete);
    request = parser.take();
    const auto headers = service::shake_hands(request, "zygo.pilot");
    REQUIRE(std::holds_alternative<service::Headers>(headers));
    std::string answer = "HTTP/1.1 101 Switching Protocols\r\n";
    for (const auto& [name, value] : std::get<service::Headers>(headers))
      answer += name + ": " + value + "\r\n";
    return answer + "\r\n";
  }

  // Messages that have come.
  std::vector<std::string> hear() {
    frames.feed(take());
    std::vector<std::string> heard;
    while (auto message = frames.take()) heard.push_back(std::move(message->bytes));
    return heard;
  }

  service::Request request;
  service::Frames frames{size_t{64} << 20};
  bool ended = false;

 private:
  sys::OwnedFd socket_;
};

}  // namespace cluster
