#pragma once
// KernelSocket: the WebSocket of one who uses a kernel. Loop thread only; shared, because the
// WebSocket tells it what comes.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "service/apis/jupyter/missed_messages.h"
#include "service/apis/jupyter/protocol.h"
#include "service/http/websocket.h"

namespace service::jupyter {

class KernelSocket : public WebSocketListener, public std::enable_shared_from_this<KernelSocket> {
 public:
  // The service outlives it.
  struct Parts {
    std::string id;          // of its client's session; no other socket of the kernel has it
    bool is_binary = false;  // it speaks kBinary
    bool is_named = false;   // by its client, which may come again by that name
    Deadlines& deadlines;
    Allowance& held;
    std::function<void(const KernelSocket&, ChannelMessage)> heard;
    std::function<void()> room;                     // its client has taken what waited
    std::function<void(const KernelSocket*)> over;  // called once
  };
  KernelSocket(ExchangePtr exchange, Parts parts, const WebSocket::Limits& limits);

  // Its client is told what it has missed before anything that it says is heard.
  void open(const Headers& headers, const std::vector<MissedMessages::Said>& missed);
  void send(Channel channel, const Message& message);
  bool has_room() const { return websocket_->is_over() || websocket_->has_room(); }
  void close(uint16_t code, std::string_view reason) { websocket_->close(code, reason); }
  void set_listening(bool listens);  // else it hears no message, until it does again
  const std::string& id() const { return parts_.id; }
  bool may_return() const { return parts_.is_named; }

  void on_message(Frames::Message message) override;
  void on_room() override;
  void on_over() override;

 private:
  const ExchangePtr exchange_;
  const Parts parts_;
  const std::shared_ptr<WebSocket> websocket_;
  bool listens_ = true, is_opening_ = false;
  std::vector<ChannelMessage> early_;  // what came with the handshake
};

}  // namespace service::jupyter
