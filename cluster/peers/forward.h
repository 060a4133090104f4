#pragma once
// Forward: one request that another router answers. Connects, sends it, and gives the answer to
// whoever asked, as fast as that one takes it. Its client's leaving ends it. Loop thread only;
// shared by its owner and its callbacks.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/link/channel.h"
#include "cluster/link/join_url.h"
#include "cluster/peers/dialer.h"
#include "runtime/loop/loop.h"
#include "service/http/exchange.h"
#include "service/http/response_reader.h"

namespace cluster {

// Another router.
struct Peer {
  std::string name;
  JoinUrl url;
};

class Forward : public std::enable_shared_from_this<Forward>, public ChannelHost {
 public:
  struct House {
    runtime::Loop& loop;
    const Peer& peer;
    Dialer& dialer;
    const TlsContext* tls = nullptr;
    std::string from;  // the name of this router
    sys::Milliseconds patience_to_connect{};
    // Of silence of the other router, from then on.
    sys::Milliseconds patience{};
    // Nothing was sent, because the other router cannot be reached: somebody else answers.
    std::function<void(const sys::Error& why)> unreachable;
    std::function<void(const std::string& why)> trouble;        // it was, and has not answered
    std::function<void(const std::shared_ptr<Forward>&)> over;  // may destroy it
  };
  Forward(service::ExchangePtr exchange, House house);

  void start();

 private:
  void connected(sys::Result<sys::OwnedFd> socket);
  sys::Result<void> begin(sys::OwnedFd socket);
  void give_up(const sys::Error& why);
  void is_late();
  void on_bytes(std::string_view bytes) override;
  void on_sent(bool all) override;
  void read_on();
  void on_hung_up() override;
  void on_broken(const sys::Error& why) override { fail(why.text()); }
  void send_more();
  void pass_on();
  void fail(const std::string& why);
  void finish();

  const service::ExchangePtr exchange_;
  const House house_;
  service::ResponseReader reader_;
  std::unique_ptr<Channel> channel_;
  size_t body_sent_ = 0;
  bool begun_ = false, over_said_ = false;
  runtime::LateTimer late_;
  runtime::Afterwards over_;
};

}  // namespace cluster
