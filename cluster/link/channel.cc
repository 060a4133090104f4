#include "cluster/link/channel.h"

#include <sys/socket.h>

#include <array>
#include <utility>

namespace cluster {

using runtime::SocketWatch;
using sys::Error;
using sys::Result;

namespace {

constexpr size_t kPiece = size_t{64} << 10;
constexpr int kPiecesAtOnce = 16;  // before the loop has its turn
constexpr size_t kKeptRoom = size_t{1} << 20;

}  // namespace

void Channel::Outgoing::add(std::string bytes) {
  if (size() == 0) {
    bytes_ = std::move(bytes);
    sent_ = 0;
    return;
  }
  if (sent_ > kKeptRoom && sent_ > bytes_.size() / 2) {
    bytes_.erase(0, sent_);
    sent_ = 0;
  }
  bytes_ += bytes;
}

void Channel::Outgoing::took(size_t count) {
  sent_ += count;
  if (size() == 0) bytes_ = std::string(), sent_ = 0;
}

Channel::Channel(runtime::Loop& loop, sys::OwnedFd connected, std::unique_ptr<TlsSession> tls,
                 ChannelHost& host)
    : socket_(std::move(connected)),
      tls_(std::move(tls)),
      host_(host),
      watch_(loop, socket_.get(), [this](SocketWatch::Ready ready) { on_ready(ready); }) {
  want();
}

void Channel::want() {
  if (stopped_) return;
  watch_.want({.read = reads_, .write = outgoing_.size() > 0});
}

void Channel::on_ready(SocketWatch::Ready ready) {
  if (reads_ && (ready.readable || ready.gone)) read_some();
  if (ready.writable && !stopped_) {
    const size_t before = outgoing_.size();
    if (const Result<void> written = write_some(); !written) {
      host_.on_broken(written.error());
    } else {
      tell_sent(before);
    }
  }
  want();
}

void Channel::read_some() {
  std::array<char, kPiece> bytes;
  for (int i = 0; i < kPiecesAtOnce && reads_ && !stopped_; ++i) {
    const ssize_t n = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n == 0) return host_.on_hung_up();
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) return host_.on_broken(Error::from_errno("the connection"));
    take({bytes.data(), static_cast<size_t>(n)});
  }
}

void Channel::take(std::string_view bytes) {
  if (!tls_) return host_.on_bytes(bytes);
  const Result<void> fed = tls_->feed(bytes);
  const size_t before = outgoing_.size();
  collect();
  said_by_tls_ += outgoing_.size() - before;
  if (!fed) {
    (void)write_some();  // so that the other side knows, too
    return host_.on_broken(fed.error());
  }
  host_.on_bytes(tls_->take_received());
  if (!stopped_ && tls_->is_ended()) host_.on_hung_up();
}

Result<void> Channel::write_some() {
  while (outgoing_.size() > 0) {
    const std::string_view next = outgoing_.next();
    const ssize_t n = ::send(socket_.get(), next.data(), next.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) return Error::from_errno("the connection");
    outgoing_.took(static_cast<size_t>(n));
  }
  return {};
}

void Channel::tell_sent(size_t before) {
  const bool all = outgoing_.size() == 0;
  if (all) said_by_tls_ = 0;
  if (all && finishing_ && !std::exchange(shut_, true)) ::shutdown(socket_.get(), SHUT_WR);
  if (outgoing_.size() < before) host_.on_sent(all);
}

void Channel::collect() {
  if (std::string said = tls_->take_output(); !said.empty()) outgoing_.add(std::move(said));
}

// At once, if nothing waits: a socket that is asked for room first costs two calls more, and a turn
// of the loop. An error is found again, where the host may hear of it.
void Channel::send(std::string bytes) {
  const bool none_waits = outgoing_.size() == 0;
  if (!tls_) {
    outgoing_.add(std::move(bytes));
  } else {
    if (!bytes.empty()) tls_->send(bytes);
    collect();
  }
  if (none_waits && !stopped_) (void)write_some();
  if (outgoing_.size() == 0) said_by_tls_ = 0;
  want();
}

void Channel::finish() {
  if (std::exchange(finishing_, true)) return;
  if (tls_) {
    tls_->close();
    collect();
  }
  if (outgoing_.size() == 0 && !std::exchange(shut_, true)) ::shutdown(socket_.get(), SHUT_WR);
  want();
}

void Channel::read(bool wanted) {
  reads_ = wanted;
  want();
}

void Channel::stop() {
  if (std::exchange(stopped_, true)) return;
  watch_.want({});
}

}  // namespace cluster
