#pragma once
// Service: one warm pool behind HTTP. Owns the loop, the server, the dispatcher and the APIs;
// borrows the engine. `zygo serve` makes one and runs it on the main thread until it is told to
// stop.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/loop/loop.h"
#include "service/admission/dispatcher.h"
#include "service/admission/guard.h"
#include "service/admission/readers.h"
#include "service/admission/tenancy.h"
#include "service/apis/api.h"
#include "service/apis/native/native_api.h"
#include "service/deadlines.h"
#include "service/http/server.h"
#include "service/live_sessions.h"
#include "service/observe/access_log.h"
#include "service/observe/observer.h"
#include "service/options.h"
#include "service/router.h"

namespace service {

class Service {
 public:
  Service(runtime::Engine& engine, ServiceOptions options, Facts facts);
  ~Service();

  void add(Listener listener) { server_->add(std::move(listener)); }
  // Returns when `stop` is readable and everything accepted is answered; -1: never. Each byte of
  // `reload` asks for the configuration to be read again; -1: nobody does. An error: the default
  // template does not start.
  sys::Result<void> run(int stop, int reload, std::function<void()> ready);

 private:
  // service.cc
  Dispatcher::Options dispatcher_options();
  Server::Handler server_handler();
  NativeContext native_context();
  void add_apis();
  void warm_up();
  void tell(runtime::ServiceState state) const;
  void begin_end();
  void cancel_rest();
  void end_if_idle();
  bool is_ending() const { return phase_ == Phase::kEnding || phase_ == Phase::kEnded; }
  void handle(const ExchangePtr& exchange);
  void refuse_unknown(const ExchangePtr& exchange, const std::string& allow) const;
  Gauges gauges() const;
  // reload.cc
  void reread();
  void change(ReloadableConfig to);

  runtime::Engine& engine_;
  ServiceOptions options_;  // the defaults of jobs are others' to read, and stay
  const Tenancy tenancy_;
  const Facts facts_;
  Phase phase_ = Phase::kWarmingUp;
  Guard guard_;
  // Errands on other threads end with the loop, so the members that they use outlive it.
  Allowance held_;
  InstalledRuntimes runtimes_;
  runtime::Loop loop_;
  Observer observer_;
  AccessLog log_;
  Deadlines deadlines_;
  std::shared_ptr<Readers> readers_;
  Dispatcher dispatcher_;
  SessionKeeper keeper_;
  LiveSessions sessions_;
  NativeApi native_;
  ForeignJobs foreign_jobs_;
  ForeignSessions foreign_sessions_;
  std::vector<std::unique_ptr<Api>> apis_;  // of others
  Router router_;
  runtime::Wakeup idle_check_;
  std::unique_ptr<Server> server_;
  std::function<void()> on_ready_;
  bool rereading_ = false, reread_again_ = false;
  std::optional<sys::Error> failure_;
};

}  // namespace service
