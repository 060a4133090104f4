#pragma once
// Frames: the bytes of a WebSocket (RFC 6455) as messages, and messages as bytes, on either side of
// it. The only place that knows wslay. No I/O and no clock: its owner feeds it received bytes and
// sends its output. Its input is untrusted.

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct wslay_event_context;

namespace service {

// Codes of RFC 6455, 7.4.1. Those from 4000 on are an application's own.
enum CloseCode : uint16_t {
  kCloseNormal = 1000,
  kCloseGoingAway = 1001,
  kCloseUnsupported = 1003,
  kClosePolicy = 1008,
  kCloseTooBig = 1009,
  kCloseTryLater = 1013,
};

class Frames {
 public:
  // A client masks what it says, and is not said masked frames (5.1).
  enum class Side : uint8_t { kServer, kClient };
  struct Message {
    bool is_text = true;  // and so valid UTF-8
    std::string bytes;
  };

  // `most` bytes of one message; a longer one closes with 1009.
  explicit Frames(size_t most, Side side = Side::kServer);
  ~Frames();
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

  void set_most(size_t bytes) { most_ = bytes; }
  // Takes all of it, unless it is closed. Answers pings and a close.
  void feed(std::string_view bytes);
  std::optional<Message> take();  // the next whole one
  size_t held() const;            // bytes of messages that were not taken, whole or not
  bool in_message() const { return in_message_; }    // a part of one has come
  uint64_t completed() const { return completed_; }  // how many have come

  void send(std::string_view text);
  void send_bytes(std::string_view bytes);  // as a binary message
  void ping();
  void close(uint16_t code, std::string_view reason);  // of the reason at most 123 bytes are said
  std::string take_output();
  // A close has been said: there will be no more output, and nothing is read any more.
  bool is_closed() const;
  uint16_t closed_by_peer_with() const;  // 1006: it said nothing; 1005: no code
  // Why, as it says; repaired, if it is no text.
  const std::string& reason_of_peer() const { return reason_; }

 private:
  struct Callbacks;
  void write();
  void mask(uint8_t* into, size_t size);
  void say_malformed();
  void fail(uint16_t code, std::string_view reason);

  const Side side_;
  size_t most_;
  std::unique_ptr<wslay_event_context, void (*)(wslay_event_context*)> wslay_;
  std::string_view input_;
  std::string output_;
  std::string message_, close_payload_, reason_;
  std::deque<Message> messages_;
  size_t waiting_ = 0;  // bytes of them
  uint64_t completed_ = 0;
  std::array<uint8_t, 256> random_{};  // for masks
  size_t random_left_ = 0;
  bool in_message_ = false, in_data_frame_ = false, in_close_ = false, is_text_ = false,
       broken_ = false;
};

}  // namespace service
