#pragma once
// HostedKernel: a kernel of one client of the service, with the WebSockets of those who use it. It
// lasts when they leave. What happens to it while it is told of something waits until that is done:
// a socket may break off at any message. Shared, because it may be ended meanwhile. Loop thread
// only.

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "service/apis/jupyter/kernel_socket.h"
#include "service/apis/jupyter/missed_messages.h"
#include "service/apis/jupyter/protocol.h"
#include "service/apis/jupyter/session_cells.h"
#include "service/jupyter/kernel.h"

namespace service::jupyter {

class HostedKernel : public Clients, public std::enable_shared_from_this<HostedKernel> {
 public:
  static constexpr size_t kMostSockets = 16;

  // The service outlives it.
  struct Parts {
    std::string id, name, client;
    SessionCells::Parts cells;
    std::string version;
    Allowance& held;  // for what a client misses
    // It has ended, at a client's wish or because it could not begin; called once.
    std::function<void(const std::string& id)> over;
    std::function<void()> rested;  // nothing runs any more
  };
  explicit HostedKernel(Parts parts);
  ~HostedKernel() override;

  // Begins an interpreter, in the place of the one that was there. `then` is called when the last
  // one that was asked for has begun: why it could not is empty if it could.
  using Then = std::function<void(const std::string& why_not)>;
  void start(Then then);
  // False: it has too many. An older one of the same session is closed.
  bool attach(const std::shared_ptr<KernelSocket>& socket);
  // Hands over the messages that its client has missed; they are sent when the socket is open.
  std::vector<MissedMessages::Said> take_missed(const KernelSocket& socket) {
    return missed_.take(socket.id());
  }
  void detach(const KernelSocket* socket);
  void hear(const KernelSocket& socket, ChannelMessage said);
  void look();  // there may be news, or room
  void interrupt();
  void end(uint16_t code, std::string_view reason);  // closes its sockets; it does nothing more

  const std::string& client() const { return parts_.client; }
  bool is_busy() const { return !is_over_ && kernel_ && kernel_->is_busy(); }
  bool is_attached() const { return !sockets_.empty(); }
  sys::Nanoseconds used() const { return used_; }  // by the monotonic clock
  KernelModel model() const;

 private:
  void perform(std::function<void()> what);
  void begin_anew();
  void send(Channel channel, const Message& message) override;
  bool has_room() const override;
  void gather() override {}
  void touch();
  void settle();
  void tell_started(const std::string& why_not);

  const Parts parts_;
  std::unique_ptr<SessionCells> cells_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<std::shared_ptr<KernelSocket>> sockets_;
  std::deque<std::function<void()>> to_do_;
  MissedMessages missed_;
  std::vector<Then> starting_;
  sys::Nanoseconds used_{};
  sys::Milliseconds used_since_1970_{};
  bool is_working_ = false, was_busy_ = false, is_over_ = false;
};

}  // namespace service::jupyter
