#pragma once
// Callback: one PUT to who wants to be told. It is tried again where nobody answers; any answer
// ends it. Loop thread only; shared by its owner and by what calls it back.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/callbacks/callback_url.h"
#include "cluster/link/channel.h"
#include "cluster/peers/dialer.h"
#include "runtime/loop/loop.h"
#include "service/callbacks.h"
#include "service/http/response_reader.h"

namespace cluster {

class Callback : public std::enable_shared_from_this<Callback>, public ChannelHost {
 public:
  struct House {
    runtime::Loop& loop;
    Dialer& dialer;
    const TlsContext* tls = nullptr;  // of an https URL, and there always
    // Called once. Empty: it was answered with success. May destroy the callback.
    std::function<void(const std::shared_ptr<Callback>&, const std::string& why)> over;
    sys::Milliseconds patience = service::Callbacks::kPatience;  // with each try
    sys::Milliseconds pause{500};  // before the second try; then twice that
  };

  // `held` is kept until it is over.
  Callback(CallbackUrl url, std::string body, std::shared_ptr<void> held, House house);
  void start();

 private:
  void try_now();
  void connected(unsigned number, sys::Result<sys::OwnedFd> socket);
  sys::Result<void> send(sys::OwnedFd socket);
  void on_bytes(std::string_view bytes) override;
  void on_sent(bool /*all*/) override {}
  void on_hung_up() override;
  void on_broken(const sys::Error& why) override { fail(why.text()); }
  void look_at_answer();
  void fail(std::string why);
  void go_on();
  void finish(std::string why);

  const CallbackUrl url_;
  const std::string body_;
  const std::shared_ptr<void> held_;
  const House house_;
  unsigned number_ = 0;  // of this try
  bool is_failed_ = false, is_over_ = false;
  std::string why_;
  std::optional<service::ResponseReader> reader_;
  std::unique_ptr<Channel> channel_;
  runtime::LateTimer late_;
  runtime::Timer again_;
  runtime::Afterwards next_;
};

}  // namespace cluster
