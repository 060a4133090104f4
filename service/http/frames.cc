#include "service/http/frames.h"

#include <sys/random.h>
#include <sys/types.h>
#include <wslay/wslay.h>

#include <algorithm>
#include <cstring>

#include "runtime/values/utf8.h"
#include "sandbox/sys/result.h"

namespace service {

namespace {

constexpr size_t kLongestReason = 123;
constexpr size_t kCodeBytes = 2;  // in front of it
// The close for a frame that is itself malformed: wslay's own has no code then.
constexpr std::string_view kProtocolError = "\x03\xEA";  // 1002

const uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

}  // namespace

// The functions that wslay calls. It does not buffer messages: that would take as much as a frame's
// head announces, and not as much as has come.
struct Frames::Callbacks {
  static Frames& self(void* user) { return *static_cast<Frames*>(user); }

  static ssize_t receive(wslay_event_context_ptr context, uint8_t* into, size_t size, int,
                         void* user) {
    std::string_view& input = self(user).input_;
    if (input.empty()) {
      wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK);
      return -1;
    }
    const size_t taken = std::min(size, input.size());
    std::memcpy(into, input.data(), taken);
    input.remove_prefix(taken);
    return static_cast<ssize_t>(taken);
  }

  static ssize_t send(wslay_event_context_ptr, const uint8_t* data, size_t size, int, void* user) {
    self(user).output_.append(reinterpret_cast<const char*>(data), size);
    return static_cast<ssize_t>(size);
  }

  static int mask(wslay_event_context_ptr, uint8_t* into, size_t size, void* user) {
    self(user).mask(into, size);
    return 0;
  }

  static void begin_frame(wslay_event_context_ptr, const wslay_event_on_frame_recv_start_arg* frame,
                          void* user) {
    Frames& frames = self(user);
    frames.in_data_frame_ = !wslay_is_ctrl_frame(frame->opcode);
    frames.in_close_ = frame->opcode == WSLAY_CONNECTION_CLOSE;
    if (!frames.in_data_frame_) return;
    if (frame->opcode != WSLAY_CONTINUATION_FRAME)
      frames.is_text_ = frame->opcode == WSLAY_TEXT_FRAME;
    frames.in_message_ = true;
    if (frame->payload_length > frames.most_ - std::min(frames.most_, frames.message_.size()))
      frames.fail(kCloseTooBig, "a message is too long");
  }

  static void take_bytes(wslay_event_context_ptr, const wslay_event_on_frame_recv_chunk_arg* chunk,
                         void* user) {
    Frames& frames = self(user);
    if (frames.in_close_)  // wslay bounds it
      frames.close_payload_.append(reinterpret_cast<const char*>(chunk->data), chunk->data_length);
    if (!frames.in_data_frame_ || !frames.in_message_) return;
    frames.message_.append(reinterpret_cast<const char*>(chunk->data), chunk->data_length);
  }

  static void end_message(wslay_event_context_ptr, const wslay_event_on_msg_recv_arg* message,
                          void* user) {
    Frames& frames = self(user);
    if (frames.in_close_ && frames.close_payload_.size() > kCodeBytes)
      frames.reason_ = runtime::repaired_utf8(frames.close_payload_.substr(kCodeBytes));
    if (wslay_is_ctrl_frame(message->opcode) || !frames.in_message_) return;
    frames.in_message_ = false;
    ++frames.completed_;
    frames.waiting_ += frames.message_.size();
    frames.messages_.push_back({frames.is_text_, std::exchange(frames.message_, {})});
  }
};

Frames::Frames(size_t most, Side side)
    : side_(side), most_(most), wslay_(nullptr, wslay_event_context_free) {
  wslay_event_callbacks callbacks{};
  callbacks.recv_callback = Callbacks::receive;
  callbacks.send_callback = Callbacks::send;
  callbacks.on_frame_recv_start_callback = Callbacks::begin_frame;
  callbacks.on_frame_recv_chunk_callback = Callbacks::take_bytes;
  callbacks.on_msg_recv_callback = Callbacks::end_message;
  wslay_event_context_ptr context = nullptr;
  callbacks.genmask_callback = Callbacks::mask;
  const auto init =
      side == Side::kServer ? wslay_event_context_server_init : wslay_event_context_client_init;
  VERIFY(init(&context, &callbacks, this) == 0);
  wslay_.reset(context);
  wslay_event_config_set_no_buffering(context, 1);
}

Frames::~Frames() = default;

void Frames::feed(std::string_view bytes) {
  if (is_closed()) return;
  input_ = bytes;
  if (wslay_event_recv(wslay_.get()) != 0) {
    broken_ = true;
    say_malformed();
  }
  input_ = {};
}

// A mask that nobody can foretell keeps whoever chooses a message from choosing the bytes that a
// proxy between the two sees (RFC 6455, 10.3). The kernel is asked once for many.
void Frames::mask(uint8_t* into, size_t size) {
  if (random_left_ < size) {
    // Up to 256 bytes come whole, whatever the signals (getrandom(2)).
    VERIFY(::getrandom(random_.data(), random_.size(), 0) == static_cast<ssize_t>(random_.size()));
    random_left_ = random_.size();
  }
  random_left_ -= size;
  std::memcpy(into, random_.data() + random_left_, size);
}

void Frames::say_malformed() {
  constexpr uint8_t kMasked = 0x80;
  std::string payload(kProtocolError);
  output_ += '\x88';
  if (side_ == Side::kServer) {
    output_ += static_cast<char>(payload.size());
  } else {
    output_ += static_cast<char>(kMasked | payload.size());
    std::array<uint8_t, 4> key{};
    mask(key.data(), key.size());
    output_.append(key.begin(), key.end());
    for (size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(payload[i] ^ key[i]);
  }
  output_ += payload;
}

std::optional<Frames::Message> Frames::take() {
  if (messages_.empty()) return std::nullopt;
  Message message = std::move(messages_.front());
  messages_.pop_front();
  waiting_ -= message.bytes.size();
  return message;
}

size_t Frames::held() const { return waiting_ + (message_.empty() ? 0 : message_.capacity()); }

void Frames::send(std::string_view text) {
  const wslay_event_msg message{WSLAY_TEXT_FRAME, bytes_of(text), text.size()};
  (void)wslay_event_queue_msg(wslay_.get(), &message);  // refused after a close
}

void Frames::send_bytes(std::string_view bytes) {
  const wslay_event_msg message{WSLAY_BINARY_FRAME, bytes_of(bytes), bytes.size()};
  (void)wslay_event_queue_msg(wslay_.get(), &message);
}

void Frames::ping() {
  const wslay_event_msg message{WSLAY_PING, nullptr, 0};
  (void)wslay_event_queue_msg(wslay_.get(), &message);
}

void Frames::close(uint16_t code, std::string_view reason) {
  write();  // a close would overtake what waits
  reason = runtime::utf8_head(reason, kLongestReason - 1);
  (void)wslay_event_queue_close(wslay_.get(), code, bytes_of(reason), reason.size());
}

// The rest of what the other side sends cannot be told apart from what was wrong.
void Frames::fail(uint16_t code, std::string_view reason) {
  in_message_ = false;
  message_ = std::string();
  close(code, reason);
  wslay_event_shutdown_read(wslay_.get());
}

void Frames::write() {
  if (!broken_ && wslay_event_send(wslay_.get()) != 0) broken_ = true;
}

std::string Frames::take_output() {
  write();
  return std::exchange(output_, {});
}

bool Frames::is_closed() const { return broken_ || wslay_event_get_close_sent(wslay_.get()) != 0; }

uint16_t Frames::closed_by_peer_with() const {
  return wslay_event_get_status_code_received(wslay_.get());
}

}  // namespace service
