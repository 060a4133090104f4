#include "tools/cli/serve/health.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "sandbox/sys/fd.h"
#include "service/http/listener.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

using sys::Error;
using sys::Result;

constexpr size_t kHead = 4096;

// Where the service that this environment configures can be reached from here.
std::string address_in_environment() {
  const char* listen = std::getenv("ZYGO_LISTEN");
  const std::string text = listen == nullptr ? "" : listen;
  const std::string first = text.substr(0, text.find(','));
  return first.empty() ? kDefaultListen : first;
}

std::string without_scheme(const std::string& text) {
  constexpr std::string_view kScheme = "http://";
  if (!text.starts_with(kScheme)) return text;
  const std::string rest = text.substr(kScheme.size());
  return rest.substr(0, rest.find('/'));
}

Result<service::ListenAddress> read_address(const std::string& text) {
  service::ListenAddress address = TRY(service::parse_listen_address(without_scheme(text)));
  if (address.host == "0.0.0.0") address.host = "127.0.0.1";
  if (address.host == "::") address.host = "::1";
  if (!address.is_unix() && address.port == 0) return Error::because(text + ": which port?");
  return address;
}

Result<sys::OwnedFd> socket_within(int family, sys::Milliseconds patience) {
  sys::OwnedFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return Error::from_errno("socket");
  const timeval limit{.tv_sec = patience.count() / 1000, .tv_usec = patience.count() % 1000 * 1000};
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {  // the latter is connect's, too
    if (::setsockopt(fd.get(), SOL_SOCKET, option, &limit, sizeof limit) < 0)
      return Error::from_errno("setsockopt");
  }
  return fd;
}

Result<sys::OwnedFd> connect_to(const service::ListenAddress& to, sys::Milliseconds patience) {
  if (to.is_unix()) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    to.path.copy(name.sun_path, sizeof name.sun_path - 1);
    sys::OwnedFd fd = TRY(socket_within(AF_UNIX, patience));
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) < 0)
      return Error::from_errno("connect");
    return fd;
  }
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(to.port);
  if (const int code = ::getaddrinfo(to.host.c_str(), port.c_str(), &hints, &found); code != 0)
    return Error::because(::gai_strerror(code));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  sys::OwnedFd fd = TRY(socket_within(found->ai_family, patience));
  if (::connect(fd.get(), found->ai_addr, found->ai_addrlen) < 0)
    return Error::from_errno("connect");
  return fd;
}

// The status of the answer: "200".
Result<std::string> ask(const service::ListenAddress& to, std::string_view path,
                        sys::Milliseconds patience) {
  const sys::OwnedFd fd = TRY(connect_to(to, patience));
  const std::string request =
      fmt::format("GET {} HTTP/1.1\r\nHost: zygo\r\nConnection: close\r\n\r\n", path);
  if (::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0)
    return Error::from_errno("send");
  std::string head;
  while (head.find('\r') == head.npos && head.size() < kHead) {
    char bytes[kHead];
    const ssize_t count = ::recv(fd.get(), bytes, sizeof bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("read the answer");
    if (count == 0) break;
    head.append(bytes, static_cast<size_t>(count));
  }
  if (!head.starts_with("HTTP/1.1 ") || head.size() < 12) return Error::because("no HTTP answer");
  return head.substr(9, 3);
}

}  // namespace

int health_command(const CommandLine& line) {
  const std::string text =
      line.health.address.empty() ? address_in_environment() : line.health.address;
  const char* path = line.health.ready ? "/readyz" : "/healthz";
  const auto say = [&](std::string_view what) {
    write_error_line(escape_controls(fmt::format("zygo health: {} at {}: {}", path, text, what),
                                     Lines::kEscape));
  };
  const Result<service::ListenAddress> address = read_address(text);
  if (!address) {
    say(address.error().text());
    return kExitUsage;
  }
  const Result<std::string> status = ask(*address, path, line.health.patience);
  const bool good = status && *status == "200";
  if (!good || !line.common.quiet) say(status ? *status : status.error().text());
  return good ? kExitOk : kExitSomeFailed;
}

}  // namespace cli
