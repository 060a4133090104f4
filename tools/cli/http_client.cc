#include "tools/cli/http_client.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "cluster/link/tls.h"
#include "sandbox/sys/fd.h"

namespace cli {
namespace {

using cluster::JoinUrl;
using sys::Error;
using sys::OwnedFd;
using sys::Result;

constexpr size_t kLongestAnswer = size_t{8} << 20;
constexpr const char* kTooLate = "no answer in time";

// Waiting that has an end.
class Patience {
 public:
  Patience(sys::Milliseconds all, int stop) : until_(sys::monotonic_now() + all), stop_(stop) {}

  Result<void> wait(int fd, short events) const {
    std::array<pollfd, 2> watched{pollfd{fd, events, 0}, pollfd{stop_, POLLIN, 0}};
    for (;;) {
      const sys::Milliseconds left = this->left();
      if (left.count() <= 0) return Error::because(kTooLate);
      const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(left.count()));
      if (watched[1].revents != 0) return Error::because("interrupted");
      if (ready > 0) return {};
    }
  }
  sys::Milliseconds left() const {
    return std::chrono::ceil<sys::Milliseconds>(until_ - sys::monotonic_now());
  }

 private:
  const sys::Nanoseconds until_;
  const int stop_;
};

Result<OwnedFd> connect_to(const addrinfo& to, const Patience& patience) {
  OwnedFd socket(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return Error::from_errno("socket");
  if (::connect(socket.get(), to.ai_addr, to.ai_addrlen) == 0) return socket;
  if (errno != EINPROGRESS) return Error::from_errno("connect");
  TRY(patience.wait(socket.get(), POLLOUT));
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) < 0 || error != 0)
    return Error::from_errno("connect", error);
  return socket;
}

// Blocks: when the queue of a unix socket is full, poll(2) does not tell when there is room again.
// A signal ends the wait, although its handler has SA_RESTART: the socket has a timeout
// (signal(7)).
Result<OwnedFd> connect_to_path(const std::string& path, const Patience& patience) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof to.sun_path) return Error::because("the path is too long");
  std::copy(path.begin(), path.end(), to.sun_path);
  OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return Error::from_errno("socket");
  const auto left = std::max(patience.left(), sys::Milliseconds(1)).count();  // 0 has no end
  const timeval limit{.tv_sec = left / 1000, .tv_usec = left % 1000 * 1000};
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0)
    return Error::from_errno("setsockopt");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0)
    return socket;
  return errno == EAGAIN ? Error::because(kTooLate) : Error::from_errno("connect");
}

Result<OwnedFd> connect_to_host(const JoinUrl& url, const Patience& patience) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const std::string port = std::to_string(url.port);
  const int error = ::getaddrinfo(url.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return Error::because(::gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  Result<OwnedFd> last = Error::because("the name has no address");
  for (const addrinfo* each = all.get(); each != nullptr; each = each->ai_next) {
    last = connect_to(*each, patience);
    if (last) break;
  }
  return last;
}

Result<void> send_all(int socket, std::string_view bytes, const Patience& patience) {
  while (!bytes.empty()) {
    TRY(patience.wait(socket, POLLOUT));
    const ssize_t n = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return Error::from_errno("send");
    if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

// The next bytes; none: the other side has ended the connection.
Result<std::string> receive(int socket, const Patience& patience) {
  std::string bytes(65536, '\0');
  for (;;) {
    TRY(patience.wait(socket, POLLIN));
    const ssize_t n = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n < 0) return Error::from_errno("receive");
    bytes.resize(static_cast<size_t>(n));
    return bytes;
  }
}

Result<std::string> ask(int socket, std::string_view request, const Patience& patience) {
  TRY(send_all(socket, request, patience));
  std::string all;
  for (;;) {
    const std::string bytes = TRY(receive(socket, patience));
    if (bytes.empty()) return all;
    all += bytes;
    if (all.size() > kLongestAnswer) return Error::because("the answer is too long");
  }
}

// Whether the answer has all that its head says: whoever sits between can end a connection early.
bool is_whole(std::string_view answer) {
  const size_t head = answer.find("\r\n\r\n");
  if (head == answer.npos) return false;
  constexpr std::string_view kLength = "content-length:";
  std::string names(answer.substr(0, head));
  std::ranges::transform(names, names.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  const size_t at = names.find(kLength);
  if (at == names.npos) return false;
  const size_t digits = std::min(names.find_first_not_of(' ', at + kLength.size()), names.size());
  size_t length = 0;
  const auto read = std::from_chars(names.data() + digits, names.data() + names.size(), length);
  return read.ec == std::errc{} && answer.size() - head - 4 >= length;
}

// The same inside TLS.
Result<std::string> ask_by(cluster::TlsSession& session, int socket, std::string_view request,
                           const Patience& patience) {
  session.send(request);
  std::string all;
  for (;;) {
    TRY(send_all(socket, session.take_output(), patience));
    if (session.is_ended()) return all;
    const std::string bytes = TRY(receive(socket, patience));
    if (bytes.empty()) {
      if (is_whole(all)) return all;
      return Error::because("the connection has ended before the answer has");
    }
    if (const auto fed = session.feed(bytes); !fed) {
      (void)send_all(socket, session.take_output(), patience);  // says why
      return fed.error();
    }
    all += session.take_received();
    if (all.size() > kLongestAnswer) return Error::because("the answer is too long");
  }
}

// HTTP/1.0: no chunks, and the end of the connection is the end of the answer.
std::string request_text(const JoinUrl& url, const HttpRequest& request) {
  std::string text =
      fmt::format("GET {}{} HTTP/1.0\r\nHost: {}\r\n", url.prefix, request.target, url.authority());
  if (!request.token.empty()) text += "Authorization: Bearer " + request.token + "\r\n";
  return text + "\r\n";
}

}  // namespace

Result<JoinUrl> parse_service_url(std::string_view text) {
  const bool is_bare =
      !text.starts_with("unix:") && text.find("://") == text.npos && text.find(':') != text.npos;
  return cluster::parse_join_url(is_bare ? fmt::format("http://{}", text) : std::string(text));
}

Result<HttpAnswer> parse_http_answer(std::string_view bytes) {
  const Error wrong = Error::because("no HTTP answer");
  constexpr std::string_view kVersion = "HTTP/1.";  // and a digit, a blank, three digits
  const size_t head = bytes.find("\r\n\r\n");
  if (!bytes.starts_with(kVersion) || head == bytes.npos || head < 12) return wrong;
  HttpAnswer answer;
  const char* digits = bytes.data() + kVersion.size() + 2;
  const auto [end, error] = std::from_chars(digits, digits + 3, answer.status);
  if (error != std::errc{} || end != digits + 3 || answer.status < 100) return wrong;
  answer.body = bytes.substr(head + 4);
  return answer;
}

Result<HttpAnswer> http_get(const JoinUrl& url, const HttpRequest& request,
                            sys::Milliseconds patience, int stop) {
  const Patience limit(patience, stop);
  const OwnedFd socket =
      TRY(url.is_unix() ? connect_to_path(url.path, limit) : connect_to_host(url, limit));
  const std::string text = request_text(url, request);
  if (!url.tls) return parse_http_answer(TRY(ask(socket.get(), text, limit)));
  VERIFY(request.tls != nullptr);
  const auto session = TRY(request.tls->connect(url.host));
  return parse_http_answer(TRY(ask_by(*session, socket.get(), text, limit)));
}

}  // namespace cli
