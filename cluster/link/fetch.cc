#include "cluster/link/fetch.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "cluster/link/dial.h"
#include "service/http/response_reader.h"

namespace cluster {

using service::ResponseReader;
using sys::Error;
using sys::Result;

namespace {

constexpr size_t kLongestRefusal = 300;  // bytes of it that are shown

// A connected socket that is read and written as if it blocked, for so long at most.
class Conversation {
 public:
  Conversation(sys::OwnedFd socket, std::unique_ptr<TlsSession> tls, sys::Milliseconds patience,
               int stop)
      : socket_(std::move(socket)), tls_(std::move(tls)), patience_(patience), stop_(stop) {}

  Result<void> send(std::string_view bytes) {
    if (!tls_) return write(bytes);
    tls_->send(bytes);
    return write(tls_->take_output());
  }

  // Empty: the other side has ended.
  Result<std::string> receive() {
    for (;;) {
      std::string bytes = TRY(read());
      if (!tls_ || bytes.empty()) return bytes;
      const Result<void> fed = tls_->feed(bytes);
      TRY(write(tls_->take_output()));
      TRY(fed);
      if (std::string meant = tls_->take_received(); !meant.empty()) return meant;
      if (tls_->is_ended()) return std::string();
    }
  }

 private:
  Result<void> wait(short events) const {
    pollfd watched[] = {{socket_.get(), events, 0}, {stop_, POLLIN, 0}};
    for (;;) {
      const int ready = ::poll(watched, std::size(watched), static_cast<int>(patience_.count()));
      if (watched[1].revents != 0) return Error::because("it was told to stop");
      if (ready > 0) return {};
      if (ready == 0) return Error::because("no answer in time");
      if (errno != EINTR) return Error::from_errno("poll");
    }
  }
  Result<void> write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
      if (n < 0 && errno == EAGAIN) TRY(wait(POLLOUT));
      if (n < 0 && errno != EAGAIN && errno != EINTR) return Error::from_errno("the connection");
    }
    return {};
  }
  Result<std::string> read() const {
    std::array<char, 65536> bytes;
    for (;;) {
      TRY(wait(POLLIN));
      const ssize_t n = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (n >= 0) return std::string(bytes.data(), static_cast<size_t>(n));
      if (errno != EAGAIN && errno != EINTR) return Error::from_errno("the connection");
    }
  }

  const sys::OwnedFd socket_;
  const std::unique_ptr<TlsSession> tls_;
  const sys::Milliseconds patience_;
  const int stop_;
};

std::string request_text(const JoinUrl& to, const FetchRequest& request) {
  std::string text = fmt::format("GET {}{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
                                 to.prefix, request.target, to.authority());
  if (!request.token.empty()) text += fmt::format("Authorization: Bearer {}\r\n", request.token);
  return text + "\r\n";
}

// In one printable line.
std::string shown(std::string text) {
  text.resize(std::min(text.size(), kLongestRefusal));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return text;
}

Result<void> take(Conversation& conversation, const auto& sink) {
  ResponseReader reader;
  std::string refusal;
  while (reader.state() != ResponseReader::State::kComplete) {
    const std::string bytes = TRY(conversation.receive());
    bytes.empty() ? reader.end() : reader.feed(bytes);
    if (reader.state() == ResponseReader::State::kBroken)
      return Error::because("its answer is no HTTP, or breaks off");
    const std::string piece = reader.take_body();
    if (reader.status() == 200) {
      TRY(sink(piece));
    } else if (refusal.size() < kLongestRefusal) {
      refusal += piece;
    }
  }
  if (reader.status() == 200) return {};
  return Error::because(
      fmt::format("it answers with status {}: {}", reader.status(), shown(refusal)));
}

}  // namespace

Result<void> fetch(const JoinUrl& from, const FetchRequest& request, sys::Milliseconds patience,
                   const std::function<Result<void>(std::string_view piece)>& sink) {
  sys::OwnedFd socket = TRY(dial(from, patience));
  std::unique_ptr<TlsSession> tls;
  if (from.tls) tls = TRY(request.tls->connect(from.host));
  Conversation conversation(std::move(socket), std::move(tls), patience, request.stop);
  Result<void> taken = conversation.send(request_text(from, request));
  if (taken) taken = take(conversation, sink);
  if (!taken) return std::move(taken).error().context(from.text() + request.target);
  return {};
}

}  // namespace cluster
