#include "service/http/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

namespace service {

using sys::Error;
using sys::Result;

namespace {

constexpr int kBacklog = 512;
constexpr int kFirstInherited = 3;  // SD_LISTEN_FDS_START

Error malformed(std::string_view text) {
  return Error::because(
      fmt::format("\"{}\" is no address to listen on; write e.g. 127.0.0.1:8000, [::1]:8000 or "
                  "unix:/run/zygo.sock",
                  text));
}

// Any of the kinds of socket address.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  sockaddr* raw() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Result<Address> address_of(const ListenAddress& wanted) {
  Address address;
  if (wanted.is_unix()) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    wanted.path.copy(to.sun_path, sizeof to.sun_path - 1);
    std::memcpy(&address.storage, &to, sizeof to);
    address.size = sizeof to;
    return address;
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(wanted.port);
  if (::inet_pton(AF_INET, wanted.host.c_str(), &v4.sin_addr) == 1) {
    std::memcpy(&address.storage, &v4, sizeof v4);
    address.size = sizeof v4;
    return address;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(wanted.port);
  if (::inet_pton(AF_INET6, wanted.host.c_str(), &v6.sin6_addr) != 1)
    return Error::because(fmt::format("\"{}\" is no numeric address", wanted.host));
  std::memcpy(&address.storage, &v6, sizeof v6);
  address.size = sizeof v6;
  return address;
}

bool is_loopback(const Address& address) {
  if (address.storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address.storage, sizeof v4);
    return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address.storage, sizeof v6);
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

std::string url_of(const Address& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address.storage, sizeof v4);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return fmt::format("http://{}:{}", text, ntohs(v4.sin_port));
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address.storage, sizeof v6);
  ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  return fmt::format("http://[{}]:{}", text, ntohs(v6.sin6_port));
}

// A socket's file that a service which is no more has left.
void remove_stale(const std::string& path, const Address& address) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) < 0 || !S_ISSOCK(info.st_mode)) return;
  sys::OwnedFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (probe && ::connect(probe.get(), address.raw(), address.size) < 0 && errno == ECONNREFUSED)
    ::unlink(path.c_str());
}

Result<void> bind_unix(int fd, const std::string& path, const Address& address, unsigned mode) {
  remove_stale(path, address);
  // There is no moment at which the file would allow more than `mode`. No other thread yet.
  const mode_t before = ::umask(static_cast<mode_t>(~mode & 0777));
  const int bound = ::bind(fd, address.raw(), address.size);
  const int error = errno;
  ::umask(before);
  if (bound < 0) return Error::from_errno("listen on " + path, error);
  return {};
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  ListenAddress address;
  if (text.starts_with("unix:")) {
    address.path = text.substr(5);
    if (address.path.empty() || address.path.size() >= sizeof(sockaddr_un::sun_path))
      return Error::because(fmt::format("\"{}\": expected a path of 1 to {} bytes", text,
                                        sizeof(sockaddr_un::sun_path) - 1));
    return address;
  }
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return malformed(text);
  std::string_view host = text.substr(0, colon), port = text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != host.npos) {
    return malformed(text);
  }
  auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc{} || end != port.data() + port.size()) return malformed(text);
  address.host = host == "localhost" ? "127.0.0.1" : host;
  if (host.empty() || !address_of(address)) return malformed(text);
  return address;
}

Result<Listener> Listener::listening(sys::OwnedFd fd) {
  Listener listener(std::move(fd));
  Address bound;
  if (::getsockname(listener.fd(), bound.raw(), &bound.size) < 0)
    return Error::from_errno("getsockname");
  const int family = bound.storage.ss_family;
  if (family == AF_UNIX) {
    sockaddr_un un{};
    std::memcpy(&un, &bound.storage, sizeof un);
    un.sun_path[sizeof un.sun_path - 1] = '\0';
    listener.is_unix_ = listener.is_local_ = true;
    listener.name_ = "unix:" + std::string(un.sun_path);
  } else if (family == AF_INET || family == AF_INET6) {
    listener.is_local_ = is_loopback(bound);
    listener.name_ = url_of(bound);
  } else {
    return Error::because("the socket is neither TCP nor a unix socket");
  }
  return listener;
}

Result<Listener> Listener::open(const ListenAddress& wanted, unsigned mode) {
  const Address address = TRY(address_of(wanted));
  sys::OwnedFd fd(
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return Error::from_errno("socket");
  if (wanted.is_unix()) {
    TRY(bind_unix(fd.get(), wanted.path, address, mode));
  } else {
    const int one = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (::bind(fd.get(), address.raw(), address.size) < 0)
      return Error::from_errno("listen on " + url_of(address));
  }
  if (::listen(fd.get(), kBacklog) < 0) return Error::from_errno("listen");
  Listener listener = TRY(listening(std::move(fd)));
  listener.path_ = wanted.path;
  return listener;
}

Result<std::vector<Listener>> Listener::inherited() {
  std::vector<Listener> listeners;
  const char* pid = std::getenv("LISTEN_PID");
  const char* count = std::getenv("LISTEN_FDS");
  if (pid == nullptr || count == nullptr || std::atol(pid) != ::getpid()) return listeners;
  for (int i = 0; i < std::atoi(count); ++i) {
    sys::OwnedFd fd(kFirstInherited + i);
    if (::fcntl(fd.get(), F_SETFD, FD_CLOEXEC) < 0 || ::fcntl(fd.get(), F_SETFL, O_NONBLOCK) < 0) {
      static_cast<void>(fd.release());
      return Error::from_errno("LISTEN_FDS");
    }
    Result<Listener> listener = listening(std::move(fd));
    if (!listener) return std::move(listener).error().context("LISTEN_FDS");
    listeners.push_back(std::move(listener).value());
  }
  ::unsetenv("LISTEN_PID");
  ::unsetenv("LISTEN_FDS");
  return listeners;
}

Listener::~Listener() {
  if (fd_ && !path_.empty()) ::unlink(path_.c_str());
}

}  // namespace service
