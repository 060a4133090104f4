#include "cluster/callbacks/callback.h"

#include <fmt/format.h>

#include <utility>

namespace cluster {

using service::Callbacks;
using service::ResponseReader;
using sys::Result;

namespace {

constexpr int kConnecting = 3;  // times the patience: others may be connected before

std::string request_of(const CallbackUrl& url, const std::string& body) {
  return fmt::format(
      "PUT {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      url.target, url.origin.authority(), body.size(), body);
}

}  // namespace

Callback::Callback(CallbackUrl url, std::string body, std::shared_ptr<void> held, House house)
    : url_(std::move(url)),
      body_(std::move(body)),
      held_(std::move(held)),
      house_(std::move(house)),
      late_(house_.loop, [this] { fail("no answer in time"); }),
      again_(house_.loop, [this] { try_now(); }),
      next_(house_.loop, [this] { go_on(); }) {}

void Callback::start() { try_now(); }

void Callback::try_now() {
  ++number_;
  is_failed_ = false;
  reader_.emplace();
  late_.start(kConnecting * house_.patience);
  house_.dialer.dial(
      [weak = weak_from_this(), number = number_] {
        const auto self = weak.lock();
        return self && self->number_ == number && !self->is_failed_;
      },
      [weak = weak_from_this(), number = number_](Result<sys::OwnedFd> socket) {
        if (const auto self = weak.lock()) self->connected(number, std::move(socket));
      });
}

void Callback::connected(unsigned number, Result<sys::OwnedFd> socket) {
  if (number != number_ || is_failed_) return;  // it came too late
  if (!socket) return fail(socket.error().text());
  if (auto sent = send(std::move(socket).value()); !sent) fail(sent.error().text());
}

Result<void> Callback::send(sys::OwnedFd socket) {
  std::unique_ptr<TlsSession> tls;
  if (url_.origin.tls) tls = TRY(house_.tls->connect(url_.origin.host));
  channel_ = std::make_unique<Channel>(house_.loop, std::move(socket), std::move(tls), *this);
  late_.start(house_.patience);
  channel_->send(request_of(url_, body_));
  return {};
}

void Callback::on_bytes(std::string_view bytes) {
  reader_->feed(bytes);
  look_at_answer();
}

void Callback::on_hung_up() {
  reader_->end();
  look_at_answer();
}

// Its head is enough.
void Callback::look_at_answer() {
  if (is_over_ || is_failed_ || reader_->state() == ResponseReader::State::kHead) return;
  constexpr int kSuccess = 200, kRedirection = 300;
  if (reader_->state() == ResponseReader::State::kBroken && reader_->status() < kSuccess)
    return fail("its answer is no HTTP, or breaks off");
  const bool is_well = reader_->status() >= kSuccess && reader_->status() < kRedirection;
  finish(is_well ? "" : fmt::format("it answers with status {}", reader_->status()));
}

// Not from within the channel, which ends here.
void Callback::fail(std::string why) {
  if (is_over_ || std::exchange(is_failed_, true)) return;
  why_ = std::move(why);
  late_.stop();
  if (channel_) channel_->stop();
  next_.start();
}

void Callback::finish(std::string why) {
  if (std::exchange(is_over_, true)) return;
  why_ = std::move(why);
  late_.stop();
  if (channel_) channel_->stop();
  next_.start();
}

void Callback::go_on() {
  channel_.reset();
  if (is_over_ || number_ >= Callbacks::kMostTries) {
    is_over_ = true;
    return house_.over(shared_from_this(), why_);
  }
  again_.start(house_.pause * (1 << (number_ - 1)));
}

}  // namespace cluster
