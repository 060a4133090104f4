#include "cluster/link/dial.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <memory>

namespace cluster {

using sys::Error;
using sys::Milliseconds;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr const char* kTooLate = "no answer in time";

Milliseconds time_until(sys::Nanoseconds end) {
  return std::max(std::chrono::ceil<Milliseconds>(end - sys::monotonic_now()), Milliseconds(0));
}

Result<void> await_connection(int socket, sys::Nanoseconds until) {
  for (;;) {
    pollfd watched{socket, POLLOUT, 0};
    const int ready = ::poll(&watched, 1, static_cast<int>(time_until(until).count()));
    if (ready == 0) return Error::because(kTooLate);
    if (ready < 0 && errno != EINTR) return Error::from_errno("poll");
    if (ready > 0) break;
  }
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
    return Error::from_errno("connect");
  if (error != 0) return Error::from_errno("connect", error);
  return {};
}

// Messages are short and each is waited for; and a peer whose machine is gone says nothing.
Result<void> set_options(int socket) {
  struct Option {
    int level, name, value;
  };
  constexpr Option kOptions[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
                                 {SOL_SOCKET, SO_KEEPALIVE, 1},
                                 {IPPROTO_TCP, TCP_KEEPIDLE, 30},
                                 {IPPROTO_TCP, TCP_KEEPINTVL, 10},
                                 {IPPROTO_TCP, TCP_KEEPCNT, 3}};
  for (const Option& each : kOptions) {
    if (::setsockopt(socket, each.level, each.name, &each.value, sizeof each.value) < 0)
      return Error::from_errno("setsockopt");
  }
  return {};
}

Result<OwnedFd> connect_to(const addrinfo& to, sys::Nanoseconds until) {
  OwnedFd socket(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return Error::from_errno("socket");
  if (::connect(socket.get(), to.ai_addr, to.ai_addrlen) < 0) {
    if (errno != EINPROGRESS) return Error::from_errno("connect");
    TRY(await_connection(socket.get(), until));
  }
  TRY(set_options(socket.get()));
  return socket;
}

Result<OwnedFd> connect_to_host(const JoinUrl& host, sys::Nanoseconds until) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  const std::string port = std::to_string(host.port);
  const int error = ::getaddrinfo(host.host.c_str(), port.c_str(), &hints, &found);
  if (error == EAI_SYSTEM) return Error::from_errno("look up the name");
  if (error != 0) return Error::because(::gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  return dial_any(all.get(), time_until(until));
}

// Blocks, with a time-out of the socket's: poll(2) does not tell when the queue of a unix socket
// has room again.
Result<OwnedFd> connect_to_path(const std::string& path, Milliseconds patience) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof to.sun_path) return Error::because("the path is too long");
  std::copy(path.begin(), path.end(), to.sun_path);
  OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return Error::from_errno("socket");
  const auto time = std::max(patience, Milliseconds(1)).count();  // 0 has no end
  const timeval limit{.tv_sec = time / 1000, .tv_usec = time % 1000 * 1000};
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0)
    return Error::from_errno("setsockopt");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) < 0)
    return errno == EAGAIN ? Error::because(kTooLate) : Error::from_errno("connect");
  if (::fcntl(socket.get(), F_SETFL, O_NONBLOCK) < 0) return Error::from_errno("O_NONBLOCK");
  return socket;
}

}  // namespace

Result<OwnedFd> dial_any(const addrinfo* addresses, Milliseconds patience) {
  const sys::Nanoseconds until = sys::monotonic_now() + patience;
  int64_t left = 0;
  for (const addrinfo* each = addresses; each; each = each->ai_next) ++left;
  Result<OwnedFd> last = Error::because("the name has no address");
  for (const addrinfo* each = addresses; each && !last; each = each->ai_next, --left)
    last = connect_to(*each, sys::monotonic_now() + time_until(until) / left);
  return last;
}

Result<OwnedFd> dial(const JoinUrl& to, Milliseconds patience) {
  Result<OwnedFd> made = to.is_unix() ? connect_to_path(to.path, patience)
                                      : connect_to_host(to, sys::monotonic_now() + patience);
  if (!made) return std::move(made).error().context(to.text());
  return made;
}

}  // namespace cluster
