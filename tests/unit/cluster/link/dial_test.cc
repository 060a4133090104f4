#include "cluster/link/dial.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>

namespace cluster {
namespace {

using sys::Milliseconds;
using sys::OwnedFd;

int option_of(const OwnedFd& socket, int level, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  REQUIRE(::getsockopt(socket.get(), level, name, &value, &length) == 0);
  return value;
}

// A socket of the loopback, bound to a free port.
OwnedFd bound(JoinUrl& url) {
  OwnedFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof at;
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  REQUIRE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &length) == 0);
  url = {.host = "127.0.0.1", .port = ntohs(at.sin_port)};
  return socket;
}

void check_flags(const OwnedFd& socket) {
  CHECK((::fcntl(socket.get(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK((::fcntl(socket.get(), F_GETFL) & O_NONBLOCK) != 0);
}

// Whoever is not accepted fills the queue, and is dropped or has to wait then.
void check_patience(const JoinUrl& url) {
  std::vector<OwnedFd> queue;
  for (int i = 0; i < 10; ++i) {
    auto socket = dial(url, Milliseconds(100));
    if (!socket) {
      CHECK(socket.error().text() == url.text() + ": no answer in time");
      return;
    }
    queue.push_back(std::move(*socket));
  }
  FAIL("the queue has no end");
}

}  // namespace

TEST_CASE("a router is dialled over TCP", "[cluster][link]") {
  JoinUrl url;
  const OwnedFd listener = bound(url);
  REQUIRE(::listen(listener.get(), 1) == 0);
  const auto socket = dial(url, Milliseconds(10'000));
  REQUIRE(socket);
  check_flags(*socket);
  CHECK(option_of(*socket, IPPROTO_TCP, TCP_NODELAY) != 0);
  CHECK(option_of(*socket, SOL_SOCKET, SO_KEEPALIVE) != 0);
  const OwnedFd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  REQUIRE(accepted);
  REQUIRE(::send(accepted.get(), "x", 1, MSG_NOSIGNAL) == 1);
}

TEST_CASE("all addresses of a router's name are tried", "[cluster][link]") {
  JoinUrl deaf, busy, there;
  const OwnedFd first = bound(deaf), second = bound(busy), third = bound(there);
  REQUIRE(::listen(second.get(), 0) == 0);
  std::vector<OwnedFd> queue;
  for (;;) {  // whose place in the queue nobody gives up
    auto socket = dial(busy, Milliseconds(100));
    if (!socket) break;
    queue.push_back(std::move(*socket));
  }
  REQUIRE(::listen(third.get(), 1) == 0);
  std::array<sockaddr_in, 3> at{};
  std::array<addrinfo, 3> addresses{};
  const std::array<uint16_t, 3> ports = {deaf.port, busy.port, there.port};
  for (size_t i = 0; i < addresses.size(); ++i) {
    at[i].sin_family = AF_INET;
    at[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at[i].sin_port = htons(ports[i]);
    addresses[i].ai_family = AF_INET;
    addresses[i].ai_addr = reinterpret_cast<sockaddr*>(&at[i]);
    addresses[i].ai_addrlen = sizeof at[i];
    addresses[i].ai_next = i + 1 < addresses.size() ? &addresses[i + 1] : nullptr;
  }
  CHECK(dial_any(addresses.data(), Milliseconds(500)));
  addresses[1].ai_next = nullptr;
  const auto refused = dial_any(addresses.data(), Milliseconds(100));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text() == "no answer in time");
  CHECK_FALSE(dial_any(nullptr, Milliseconds(100)));
}

TEST_CASE("a router that is not there is said to be not there", "[cluster][link]") {
  JoinUrl url;
  const OwnedFd nobody = bound(url);
  const auto refused = dial(url, Milliseconds(10'000));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text() == url.text() + ": connect: Connection refused");
}

TEST_CASE("a router that accepts nobody is not waited for for ever", "[cluster][link]") {
  JoinUrl url;
  const OwnedFd listener = bound(url);
  REQUIRE(::listen(listener.get(), 0) == 0);
  check_patience(url);
}

TEST_CASE("a router is dialled over a unix socket", "[cluster][link]") {
  const std::string folder = std::filesystem::temp_directory_path() / "zygo-dial-XXXXXX";
  std::string scratch = folder;
  REQUIRE(::mkdtemp(scratch.data()));
  const JoinUrl url{.path = scratch + "/s"};
  CHECK_FALSE(dial(url, Milliseconds(100)));
  const OwnedFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  url.path.copy(at.sun_path, sizeof at.sun_path - 1);
  REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  REQUIRE(::listen(listener.get(), 0) == 0);
  const auto socket = dial(url, Milliseconds(10'000));
  REQUIRE(socket);
  check_flags(*socket);
  check_patience(url);
  std::filesystem::remove_all(scratch);
}

}  // namespace cluster
