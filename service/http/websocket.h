#pragma once
// WebSocket: one upgraded connection, as messages. Sends pings to a client that is silent and
// disconnects one that does not answer; refuses messages that are too long or come too slowly;
// sends close once, and ends. The listener is told of the end exactly once. Loop thread only;
// shared, because the exchange's callbacks hold it while the connection lasts.

#include <memory>
#include <string_view>

#include "sandbox/sys/units.h"
#include "service/deadlines.h"
#include "service/http/allowance.h"
#include "service/http/exchange.h"
#include "service/http/frames.h"

namespace service {

class WebSocketListener {
 public:
  virtual ~WebSocketListener() = default;
  virtual void on_message(Frames::Message message) = 0;
  virtual void on_room() = 0;  // the client has taken what waited for it
  virtual void on_over() = 0;  // closed, by whom ever, or lost
};

class WebSocket : public std::enable_shared_from_this<WebSocket> {
 public:
  struct Limits {
    size_t first_message = size_t{64} << 20;
    size_t message = size_t{1} << 20;        // of those that follow
    sys::Milliseconds message_time{30'000};  // for a message, and 1 s more for each KiB of it
    sys::Milliseconds ping{20'000};          // of silence; and then as long for an answer
  };
  WebSocket(ExchangePtr exchange, Deadlines& deadlines, Allowance& held, const Limits& limits);

  // Messages may come before this returns.
  void open(const Headers& headers, std::shared_ptr<WebSocketListener> listener);

  void send(std::string_view text);
  void send_bytes(std::string_view bytes);  // as a binary message
  // Has the client taken what was sent so far, but for a bounded rest?
  bool has_room() const { return exchange_->has_room(); }
  void close(uint16_t code, std::string_view reason);
  bool is_over() const { return over_; }
  bool in_message() const { return frames_.in_message(); }  // one has begun to come
  // Nothing is read, and no message comes, until resume().
  void pause();
  void resume();

 private:
  void arrived(std::string_view bytes);
  void hand_out();
  void flush();
  void lost();
  void end();
  void watch();
  void check();

  const ExchangePtr exchange_;
  Deadlines& deadlines_;
  const Limits limits_;
  Allowance::Share share_;
  Frames frames_;
  std::shared_ptr<WebSocketListener> listener_;
  Deadlines::Id next_check_ = 0;
  sys::Nanoseconds heard_{}, message_since_{};
  uint64_t completed_ = 0;
  bool in_message_ = false, pinged_ = false, paused_ = false, handing_out_ = false, over_ = false;
};

}  // namespace service
