#pragma once
// Service: one warm pool behind HTTP. Owns the loop, the server, the desk and what is kept; borrows
// the engine. `zygo serve` makes one and runs it on the main thread until it is told to stop.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/api/job_json.h"
#include "runtime/blobs.h"
#include "runtime/engine.h"
#include "runtime/loop/loop.h"
#include "service/access_log.h"
#include "service/batch_stream.h"
#include "service/deadlines.h"
#include "service/desk.h"
#include "service/foreign/piston.h"
#include "service/http/server.h"
#include "service/kept_jobs.h"
#include "service/metrics.h"
#include "service/router.h"
#include "service/tokens.h"

namespace service {

struct ServiceOptions {
  Server::Options http;
  size_t queue = 1000;              // jobs that wait
  size_t held = size_t{1} << 30;    // bytes of requests at once
  sys::Milliseconds grace{10'000};  // for what runs, at the end
  KeptJobs::Options kept;
  LogFormat log = LogFormat::kOff;
  Tokens tokens;  // empty: none is asked for
  runtime::JobDefaults defaults;
  std::string blobs;  // root of the store; empty: there is none
  Apis apis;
  piston::Limits piston;
  std::string version;
  bool warm = true;  // a job of the default template before /readyz says yes
};

// What the service tells, but others know.
struct Facts {
  std::function<bool(const std::string&)> knows_template;
  std::string templates;                  // JSON
  std::function<std::string()> runtimes;  // JSON; may take its time, on another thread
};

class Service {
 public:
  Service(runtime::Engine& engine, ServiceOptions options, Facts facts);
  ~Service();

  void add(Listener listener) { server_->add(std::move(listener)); }
  // Returns when `stop` is readable and everything accepted is answered; -1: never. An error: the
  // default template does not start.
  sys::Result<void> run(int stop, std::function<void()> ready);

 private:
  // service.cc
  void warm_up();
  void begin_end();
  void cancel_rest();
  void end_if_idle();
  void handle(const ExchangePtr& exchange);
  bool admit(Exchange& exchange, Scope scope);
  void perform(const ExchangePtr& exchange, Endpoint endpoint, const std::string& parameter);
  // jobs_api.cc
  void post_job(const ExchangePtr& exchange);
  void submit_job(const ExchangePtr& exchange, Desk::Order order);
  void submit_kept(const ExchangePtr& exchange, Desk::Order order);
  void get_job(const ExchangePtr& exchange, const std::string& id);
  void delete_job(const ExchangePtr& exchange, const std::string& id);
  void post_batch(const ExchangePtr& exchange);
  std::optional<Response> read_patience(const Exchange& exchange,
                                        std::optional<sys::Milliseconds>& patience) const;
  Response job_response(const std::string& id, const KeptJobs::Job& job) const;
  std::string new_id();
  // foreign_api.cc
  struct ForeignWords {
    std::function<Response(std::string_view result)> answer;
    std::function<Response(std::string_view why)> busy;
  };
  void submit_foreign(const ExchangePtr& exchange, runtime::Job job, ForeignWords words);
  void perform_foreign(const ExchangePtr& exchange, Endpoint endpoint);
  void run_code(const ExchangePtr& exchange);
  void piston_runtimes(const ExchangePtr& exchange);
  void piston_execute(const ExchangePtr& exchange);
  void dify_run(const ExchangePtr& exchange);
  // facts_api.cc
  void with_runtimes(std::function<void(const std::string& runtimes)> use);
  void get_runtimes(const ExchangePtr& exchange);
  void get_info(const ExchangePtr& exchange);
  void get_metrics(const ExchangePtr& exchange);
  void put_blob(const ExchangePtr& exchange, const std::string& digest);
  void get_blob(const ExchangePtr& exchange, const std::string& digest);

  runtime::Engine& engine_;
  const ServiceOptions options_;
  const Facts facts_;
  const std::optional<runtime::BlobStore> blobs_;
  // Errands on other threads end with the loop: what they come back to goes after it.
  Allowance held_;
  std::string runtimes_;
  std::vector<std::function<void(const std::string&)>> waiting_for_runtimes_;
  runtime::Loop loop_;
  Metrics metrics_;
  AccessLog log_;
  std::unique_ptr<Deadlines> deadlines_;
  std::unique_ptr<KeptJobs> kept_;
  std::unique_ptr<Desk> desk_;
  std::set<std::shared_ptr<BatchStream>> batches_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<runtime::Wakeup> idle_check_;
  std::function<void()> on_ready_;
  bool ready_ = false, ending_ = false, ended_ = false, fetching_runtimes_ = false;
  std::optional<sys::Error> failure_;
};

}  // namespace service
