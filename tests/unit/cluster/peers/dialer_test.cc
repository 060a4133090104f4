// A process that connects for another.

#include "cluster/peers/dialer.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <optional>
#include <vector>

#include "tests/unit/cluster/link/router_end.h"

namespace cluster {
namespace {

constexpr sys::Milliseconds kPatience{10'000};

struct Listening {
  sys::OwnedFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  JoinUrl url;

  Listening() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);
    REQUIRE(::bind(socket.get(), address, sizeof at) == 0);
    REQUIRE(::getsockname(socket.get(), address, &length) == 0);
    url = {.host = "127.0.0.1", .port = ntohs(at.sin_port)};
  }
  void listen() const { REQUIRE(::listen(socket.get(), 16) == 0); }
};

struct Dialing {
  runtime::Loop loop;
  Dialer dialer;
  std::vector<sys::Result<sys::OwnedFd>> got;

  explicit Dialing(const JoinUrl& to) : dialer(loop, process_for(to)) {}
  static sys::OwnedFd process_for(const JoinUrl& to) {
    auto process = Dialer::start(to, kPatience);
    REQUIRE(process);
    return std::move(process).value();
  }
  void dial() {
    dialer.dial([this](auto socket) { got.push_back(std::move(socket)); });
  }
  void until(size_t count) {
    turn_until(loop, [&] { return got.size() >= count; });
  }
};

}  // namespace

TEST_CASE("a dialer hands over a socket for each that asks", "[cluster][peers]") {
  Listening listening;
  listening.listen();
  Dialing dialing(listening.url);
  for (int i = 0; i < 3; ++i) dialing.dial();
  dialing.until(3);
  for (const auto& socket : dialing.got) {
    REQUIRE(socket);
    sys::OwnedFd accepted(::accept4(listening.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    CHECK(::send(accepted.get(), "x", 1, 0) == 1);
  }
  for (const auto& socket : dialing.got) {
    char byte = 0;
    while (::recv(socket->get(), &byte, 1, 0) < 0) REQUIRE(errno == EAGAIN);
    CHECK(byte == 'x');
  }
  CHECK_FALSE(dialing.dialer.is_away());
}

TEST_CASE("an address that does not answer is told to all who wait, and for a while after",
          "[cluster][peers]") {
  Listening silent;  // bound, and nobody listens
  Dialing dialing(silent.url);
  dialing.dial();
  dialing.dial();
  dialing.until(2);
  const std::string why = dialing.got[0].error().text();
  CHECK(why == silent.url.text() + ": connect: Connection refused");
  CHECK(dialing.got[1].error().text() == why);
  CHECK(dialing.dialer.is_away());
  dialing.dial();  // answered at once, without a turn of the loop
  REQUIRE(dialing.got.size() == 3);
  CHECK(dialing.got[2].error().text() == why);
}

TEST_CASE("a dialer tries again when what it knows is old", "[cluster][peers]") {
  Listening listening;
  Dialing dialing(listening.url);
  dialing.dial();
  dialing.until(1);
  CHECK_FALSE(dialing.got[0]);
  listening.listen();
  turn_until(dialing.loop, [&] { return !dialing.dialer.is_away(); });
  dialing.dial();
  dialing.until(2);
  CHECK(dialing.got[1]);
}

}  // namespace cluster
