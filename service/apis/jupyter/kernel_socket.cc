#include "service/apis/jupyter/kernel_socket.h"

#include <algorithm>
#include <utility>

namespace service::jupyter {

namespace {

// A cell is in the message, in the notebook's history and in its tree.
constexpr size_t kCopies = 3;
// Clients that read only while their cell runs answer late; a Jupyter server gives them this long.
constexpr sys::Milliseconds kPing{45'000};

WebSocket::Limits limits_of(WebSocket::Limits limits) {
  limits.first_message = std::min(limits.first_message, limits.message);
  limits.ping = std::max(limits.ping, kPing);
  return limits;
}

}  // namespace

KernelSocket::KernelSocket(ExchangePtr exchange, Parts parts, const WebSocket::Limits& limits)
    : exchange_(exchange),
      parts_(std::move(parts)),
      websocket_(std::make_shared<WebSocket>(std::move(exchange), parts_.deadlines, parts_.held,
                                             limits_of(limits))) {}

void KernelSocket::open(const Headers& headers, const std::vector<MissedMessages::Said>& missed) {
  const auto self = shared_from_this();
  is_opening_ = true;
  websocket_->open(headers, self);
  for (const auto& each : missed) send(each.channel, each.message);
  is_opening_ = false;
  for (ChannelMessage& said : std::exchange(early_, {})) parts_.heard(*this, std::move(said));
}

void KernelSocket::send(Channel channel, const Message& message) {
  if (parts_.is_binary)
    websocket_->send_bytes(write_binary_message(channel, message));
  else
    websocket_->send(write_channel_message(channel, message));
}

void KernelSocket::on_message(Frames::Message message) {
  const auto self = shared_from_this();
  if (message.is_text == parts_.is_binary)
    return close(kCloseUnsupported, message.is_text ? "expected a binary message"
                                                    : "a message with buffers is not supported");
  auto said =
      parts_.is_binary ? read_binary_message(message.bytes) : read_channel_message(message.bytes);
  if (!said) return close(kCloseUnsupported, "expected a message of Jupyter's protocol");
  said->message.held =
      held_share(Allowance::Share(parts_.held, exchange_->client), kCopies * said->bytes);
  if (!said->message.held)
    return close(kCloseTryLater, "too many bytes are held for this client already");
  if (is_opening_)
    early_.push_back(*std::move(said));
  else
    parts_.heard(*this, *std::move(said));
}

void KernelSocket::set_listening(bool listens) {
  if (websocket_->is_over() || std::exchange(listens_, listens) == listens) return;
  listens ? websocket_->resume() : websocket_->pause();
}

void KernelSocket::on_room() { parts_.room(); }

void KernelSocket::on_over() {
  const auto self = shared_from_this();
  parts_.over(this);
}

}  // namespace service::jupyter
