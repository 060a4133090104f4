#pragma once
// Service: one warm pool behind HTTP. Owns the loop, the server, the dispatcher and what is kept;
// borrows the engine. `zygo serve` makes one and runs it on the main thread until it is told to
// stop.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/builds/blobs.h"
#include "runtime/engine/engine.h"
#include "runtime/json/job_json.h"
#include "runtime/loop/loop.h"
#include "service/admission/cors.h"
#include "service/admission/dispatcher.h"
#include "service/admission/readers.h"
#include "service/admission/tenancy.h"
#include "service/admission/tokens.h"
#include "service/apis/go_judge/api.h"
#include "service/apis/native/async_results.h"
#include "service/apis/native/batch_stream.h"
#include "service/apis/piston/piston.h"
#include "service/deadlines.h"
#include "service/durable/durable_jobs.h"
#include "service/http/server.h"
#include "service/live_session.h"
#include "service/observe/access_log.h"
#include "service/observe/history.h"
#include "service/observe/metrics.h"
#include "service/reloadable_config.h"
#include "service/router.h"

namespace service {

struct ServiceOptions {
  Server::Options http;
  size_t queue = 1000;              // jobs that wait
  size_t held = size_t{1} << 30;    // bytes of requests at once
  sys::Milliseconds grace{10'000};  // for what runs, at the end
  AsyncResults::Options kept;
  LogFormat log = LogFormat::kOff;
  Tokens tokens;  // empty: none is asked for
  TenantBy tenant_by = TenantBy::kNone;
  runtime::JobDefaults defaults;
  std::string defaults_text;       // what they were parsed from; empty: nothing
  std::shared_ptr<Ledger> ledger;  // of durable jobs; none: there are none
  std::string blobs;               // root of the store; empty: there is none
  Apis apis;
  Cors cors;
  Hosts hosts;       // names that it may be called by where no token is asked for
  bool page = true;  // for people, at /
  piston::Limits piston;
  std::vector<piston::Pin> piston_pins;
  GoJudgeApi::Options go_judge;
  std::string version;
  WebSocket::Limits websocket;
  bool warm = true;  // a job of the default template before /readyz says yes
};

// What the service tells, but others know.
struct Facts {
  std::function<bool(const std::string&)> knows_template;
  std::string templates;  // JSON
  // JSON, and whether all could be asked for it; may take its time, on another thread.
  std::function<std::pair<std::string, bool>()> runtimes;
  // The same; tries to break out of cells of its own. Empty: there is no such check.
  std::function<sys::Result<std::string>()> selfcheck;
  // The configuration as it is now; on another thread. Empty: it is as it was at the start.
  std::function<sys::Result<ReloadableConfig>()> reread = {};
};

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
  void warm_up();
  void begin_end();
  void cancel_rest();
  void end_if_idle();
  void handle(const ExchangePtr& exchange);
  bool admit(Exchange& exchange, Scope scope);
  const Tokens::Holder* holder_of(const Request& request) const;  // null: no known token
  bool is_welcome(const Request& request) const;
  void perform(const ExchangePtr& exchange, Endpoint endpoint, const std::string& parameter);
  // reload.cc
  void reread();
  void change(ReloadableConfig to);
  // jobs_api.cc
  void post_job(const ExchangePtr& exchange);
  void read_aside(const ExchangePtr& exchange, std::function<void()> read,
                  std::function<void()> then);
  void take_job(const ExchangePtr& exchange, sys::Result<runtime::Job> job, Dispatcher::Order order,
                bool durable);
  void submit_job(const ExchangePtr& exchange, Dispatcher::Order order);
  void submit_kept(const ExchangePtr& exchange, Dispatcher::Order order);
  void get_job(const ExchangePtr& exchange, const std::string& id);
  void delete_job(const ExchangePtr& exchange, const std::string& id);
  void post_batch(const ExchangePtr& exchange);
  void start_batch(const ExchangePtr& exchange, sys::Result<BatchBody> body,
                   std::optional<sys::Milliseconds> patience);
  std::optional<Response> read_patience(const Exchange& exchange,
                                        std::optional<sys::Milliseconds>& patience) const;
  Response job_response(const Allowance::Share& like, const std::string& id,
                        const AsyncResults::Job& job) const;
  std::string new_id();
  // durable_api.cc
  sys::Result<void> open_ledger();
  std::optional<bool> wants_durable(Exchange& exchange) const;
  DurableRequest durable_request_of(const Exchange& exchange, std::string id) const;
  void keep_durable(const ExchangePtr& exchange, DurableRequest arrival, std::string_view place);
  void keep_job(const ExchangePtr& exchange, const runtime::Job& job,
                std::optional<sys::Milliseconds> patience);
  void keep_batch(const ExchangePtr& exchange);
  void find_durable(const ExchangePtr& exchange, const std::string& id, Response missing,
                    std::function<void(const Progress&)> then);
  void answer_verdict(const ExchangePtr& exchange, int64_t request);
  void await_verdict(const ExchangePtr& exchange, const std::string& id, int64_t request,
                     std::optional<sys::Milliseconds> wait);
  void get_durable_job(const ExchangePtr& exchange, const std::string& id);
  void delete_durable_job(const ExchangePtr& exchange, const std::string& id);
  void get_batch(const ExchangePtr& exchange, const std::string& id);
  void delete_batch(const ExchangePtr& exchange, const std::string& id);
  // attach_api.cc
  void open_session(const ExchangePtr& exchange, std::unique_ptr<SessionProtocol> protocol,
                    std::string_view subprotocol, std::optional<sys::Milliseconds> patience);
  void attach(const ExchangePtr& exchange);
  void piston_connect(const ExchangePtr& exchange);
  // foreign_api.cc
  struct ForeignWords {
    std::function<Response(std::string_view result)> answer;
    std::function<Response(std::string_view why)> busy;
    Api api;
  };
  void translate(const ExchangePtr& exchange, const ForeignWords& words,
                 const Allowance::Share& like, Finished finished);
  void submit_foreign(const ExchangePtr& exchange, runtime::Job job, ForeignWords words);
  void perform_foreign(const ExchangePtr& exchange, Endpoint endpoint,
                       const std::string& parameter);
  void run_code(const ExchangePtr& exchange);
  void run_jupyter(const ExchangePtr& exchange);
  void submit_completion(const ExchangePtr& exchange);
  std::vector<piston::Language> piston_languages(const std::string& runtimes) const;
  void piston_runtimes(const ExchangePtr& exchange);
  void piston_execute(const ExchangePtr& exchange);
  void piston_packages(const ExchangePtr& exchange);
  void piston_change_packages(const ExchangePtr& exchange, piston::Change change);
  void dify_run(const ExchangePtr& exchange);
  // facts_api.cc
  void with_runtimes(std::function<void(const std::string& runtimes)> use);
  void get_runtimes(const ExchangePtr& exchange);
  void get_info(const ExchangePtr& exchange);
  std::optional<runtime::BlobStore> blobs_for(Exchange& exchange) const;
  void put_blob(const ExchangePtr& exchange, const std::string& digest);
  void get_blob(const ExchangePtr& exchange, const std::string& digest);
  // stats_api.cc
  void note_end(const Finished& job);
  void note_answer(int status);
  Gauges gauges() const;
  void get_metrics(const ExchangePtr& exchange);
  void get_stats(const ExchangePtr& exchange);
  void post_selfcheck(const ExchangePtr& exchange);
  bool answer_page(const ExchangePtr& exchange);

  runtime::Engine& engine_;
  ServiceOptions options_;  // the defaults of jobs are others' to read, and stay
  const Tenancy tenancy_;
  const Facts facts_;
  const std::optional<runtime::BlobStore> blobs_;
  // Errands on other threads end with the loop: what they come back to goes after it.
  Allowance held_;
  std::string runtimes_;
  std::vector<std::function<void(const std::string&)>> waiting_for_runtimes_;
  runtime::Loop loop_;
  Metrics metrics_;
  History history_;
  AccessLog log_;
  std::unique_ptr<Deadlines> deadlines_;
  std::shared_ptr<Readers> readers_;
  std::unique_ptr<AsyncResults> async_results_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<DurableJobs> durable_;  // none without a ledger
  std::unique_ptr<GoJudgeApi> go_judge_;
  std::set<std::shared_ptr<BatchStream>> batches_;
  std::set<std::shared_ptr<LiveSession>> sessions_;
  std::unique_ptr<runtime::Wakeup> session_news_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<runtime::Wakeup> idle_check_;
  std::function<void()> on_ready_;
  bool ready_ = false, ending_ = false, ended_ = false, fetching_runtimes_ = false,
       checking_ = false, rereading_ = false, reread_again_ = false;
  std::optional<sys::Error> failure_;
};

}  // namespace service
