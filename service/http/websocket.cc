#include "service/http/websocket.h"

#include <algorithm>
#include <utility>

namespace service {

using sys::Nanoseconds;

WebSocket::WebSocket(ExchangePtr exchange, Deadlines& deadlines, Allowance& held,
                     const Limits& limits)
    : exchange_(std::move(exchange)),
      deadlines_(deadlines),
      limits_(limits),
      share_(held, exchange_->client),
      frames_(limits.first_message),
      heard_(sys::monotonic_now()) {}

void WebSocket::open(const Headers& headers, std::shared_ptr<WebSocketListener> listener) {
  listener_ = std::move(listener);
  watch();
  exchange_->when_gone([self = shared_from_this()] { self->lost(); });
  exchange_->when_room([self = shared_from_this()] {
    if (const auto listening = self->listener_) listening->on_room();
  });
  exchange_->upgrade(headers,
                     [self = shared_from_this()](std::string_view bytes) { self->arrived(bytes); });
}

void WebSocket::arrived(std::string_view bytes) {
  if (over_) return;
  heard_ = sys::monotonic_now();
  pinged_ = false;
  frames_.feed(bytes);
  if (const bool was = std::exchange(in_message_, frames_.in_message());
      in_message_ && (!was || completed_ != frames_.completed())) {
    message_since_ = heard_;
    deadlines_.forget(next_check_);
    watch();
  }
  completed_ = frames_.completed();
  if (!share_.resize(frames_.held()))
    frames_.close(kCloseTryLater, "too many bytes of requests are held already");
  hand_out();
  flush();
}

void WebSocket::hand_out() {
  if (std::exchange(handing_out_, true)) return;
  while (!over_ && !paused_) {
    std::optional<Frames::Message> message = frames_.take();
    if (!message) break;
    frames_.set_most(limits_.message);
    (void)share_.resize(frames_.held());
    if (const auto listening = listener_) listening->on_message(*std::move(message));
  }
  handing_out_ = false;
}

void WebSocket::send(std::string_view text) {
  if (over_) return;
  frames_.send(text);
  flush();
}

void WebSocket::send_bytes(std::string_view bytes) {
  if (over_) return;
  frames_.send_bytes(bytes);
  flush();
}

void WebSocket::close(uint16_t code, std::string_view reason) {
  if (over_) return;
  frames_.close(code, reason);
  flush();
}

void WebSocket::pause() {
  paused_ = true;
  exchange_->pause();
}

void WebSocket::resume() {
  if (!std::exchange(paused_, false) || over_) return;
  heard_ = sys::monotonic_now();  // what it said meanwhile was not listened to
  pinged_ = false;
  exchange_->resume();
  hand_out();
  flush();
}

void WebSocket::flush() {
  if (over_) return;
  if (std::string output = frames_.take_output(); !output.empty())
    exchange_->write(std::move(output));
  if (!frames_.is_closed()) return;
  end();
  exchange_->end();
}

void WebSocket::lost() {
  if (!over_) end();
}

void WebSocket::end() {
  over_ = true;
  deadlines_.forget(next_check_);
  share_ = {};
  if (const auto listening = std::exchange(listener_, nullptr)) listening->on_over();
}

// The next time at which something may be overdue.
void WebSocket::watch() {
  Nanoseconds next = heard_ + limits_.ping * (pinged_ ? 2 : 1);
  if (in_message_) {
    const sys::Milliseconds earned(frames_.held());  // a byte a millisecond
    next = std::min<Nanoseconds>(next, message_since_ + limits_.message_time + earned);
  }
  next_check_ = deadlines_.at(std::max(next, sys::monotonic_now() + sys::Milliseconds(1)),
                              [self = shared_from_this()] { self->check(); });
}

void WebSocket::check() {
  next_check_ = 0;
  if (over_) return;
  const Nanoseconds now = sys::monotonic_now();
  // Nothing is read now: its silence means nothing, and the connection has a deadline of its own
  // for a client that takes nothing.
  if (paused_ || !has_room()) {
    heard_ = message_since_ = now;
    pinged_ = false;
    return watch();
  }
  const sys::Milliseconds earned(frames_.held());
  if (in_message_ && now >= message_since_ + limits_.message_time + earned)
    return close(kClosePolicy, "a message came too slowly");
  if (pinged_ && now >= heard_ + 2 * limits_.ping)
    return close(kClosePolicy, "no answer to a ping");
  if (!pinged_ && now >= heard_ + limits_.ping) {
    pinged_ = true;
    frames_.ping();
    flush();
  }
  if (!over_) watch();
}

}  // namespace service
