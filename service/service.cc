#include "service/service.h"

#include <fmt/format.h>
#include <unistd.h>

#include "service/admission/encoded_body.h"
#include "service/http/handshake.h"
#include "service/observe/systemd.h"

namespace service {

namespace {

// After the grace is over: for cancelled jobs to be reported, and answers to be taken.
constexpr sys::Milliseconds kLastAnswers{3000};

// Whose jobs of our own are. No token has a name like this.
constexpr const char* kOwnClient = "zygo itself";

}  // namespace

Service::Service(runtime::Engine& engine, ServiceOptions options, Facts facts)
    : engine_(engine),
      options_(std::move(options)),
      tenancy_(options_.tenant_by, options_.tokens),
      facts_(std::move(facts)),
      blobs_(options_.blobs.empty() ? std::nullopt
                                    : std::optional<runtime::BlobStore>(options_.blobs)),
      held_(options_.held),
      log_(options_.log, STDERR_FILENO),
      deadlines_(std::make_unique<Deadlines>(loop_)),
      readers_(std::make_shared<Readers>(loop_)),
      async_results_(
          std::make_unique<AsyncResults>(*deadlines_, options_.kept.within(options_.held / 4))) {
  Dispatcher::Options dispatcher;
  dispatcher.queue = options_.queue;
  dispatcher.tenant_of = [this](const std::string& client, const std::string& asked) {
    return client == kOwnClient ? sys::Result<std::string>(std::string())
                                : tenancy_.tenant_of(client, asked);
  };
  dispatcher.ended = [this](const Finished& job) { note_end(job); };
  dispatcher.room = [this] {
    const auto batches = batches_;  // one that is over takes itself out
    for (const auto& batch : batches) batch->feed();
    if (durable_) durable_->feed();
    end_if_idle();
  };
  dispatcher_ =
      std::make_unique<Dispatcher>(engine_, loop_, *deadlines_, held_, std::move(dispatcher));
  go_judge_ = std::make_unique<GoJudgeApi>(
      GoJudgeApi::Parts{*dispatcher_, loop_, engine_.standing().layers, options_.defaults,
                        options_.version, options_.held,
                        !options_.tokens.empty() || options_.tenant_by != TenantBy::kNone,
                        *deadlines_, held_, options_.websocket},
      options_.go_judge);
  Server::Handler handler;
  handler.handle = [this](const ExchangePtr& exchange) { handle(exchange); };
  handler.finished = [this](const Exchange& exchange) {
    note_answer(exchange.status());
    log_.answered(exchange);
    if (ending_) idle_check_->wake();
  };
  handler.refused = [this](const Peer& peer, int status) {
    note_answer(status);
    log_.refused(peer, status);
  };
  handler.changed = [this] { end_if_idle(); };
  handler.client_of = [this](const Request& request, const Peer& peer) {
    const Tokens::Holder* holder = peer.is_unix ? nullptr : holder_of(request);
    return holder ? holder->name : peer.name;
  };
  handler.is_probe = [](const Request& request) {
    const std::string& path = request.path;
    return path == "/healthz" || path == "/readyz" || path == "/health" || path == "/v1/ping";
  };
  handler.aside = [this](const std::string& client, std::function<void()> work,
                         std::function<void()> then) {
    readers_->read(client, std::move(work), std::move(then));
  };
  idle_check_ = std::make_unique<runtime::Wakeup>(loop_, [this] { end_if_idle(); });
  session_news_ = std::make_unique<runtime::Wakeup>(loop_, [this] {
    const auto sessions = sessions_;
    for (const auto& session : sessions) session->look();
  });
  server_ = std::make_unique<Server>(loop_, options_.http, held_, std::move(handler));
}

// Connections first: what they lose, the dispatcher withdraws.
Service::~Service() {
  server_.reset();
  batches_.clear();
  sessions_.clear();
  waiting_for_runtimes_.clear();
}

sys::Result<void> Service::run(int stop, int reload, std::function<void()> ready) {
  on_ready_ = std::move(ready);
  TRY(open_ledger());
  std::optional<runtime::Readable> stop_watch;
  if (stop >= 0) {
    stop_watch.emplace(loop_, stop, [this, &stop_watch] {
      stop_watch->stop();
      begin_end();
    });
    stop_watch->start();
  }
  std::optional<runtime::Readable> reload_watch;
  if (reload >= 0) {
    reload_watch.emplace(loop_, reload, [this, reload] {
      char asked[64];
      while (::read(reload, asked, sizeof asked) > 0) {
      }
      reread();
    });
    reload_watch->start();
  }
  runtime::start_aside(loop_);
  warm_up();
  loop_.run();
  if (failure_) return *failure_;
  return {};
}

// The first job of a template waits for its interpreter to start: let it be one of ours.
void Service::warm_up() {
  auto is_ready = [this](const Finished& job) {
    if (ready_ || ending_) return;
    if (options_.warm && job.label != "OK") {
      failure_ = sys::Error::because("the default template does not work: " + job.json);
      return loop_.stop();
    }
    ready_ = true;
    if (durable_) durable_->start();
    notify_supervisor("READY=1");
    on_ready_();
  };
  if (!options_.warm) return is_ready({});
  Dispatcher::Order order;
  order.job.template_name = options_.defaults.job.template_name;
  order.job.id = "warm-up";
  order.client = kOwnClient;
  order.done = is_ready;
  (void)dispatcher_->submit(std::move(order));
}

void Service::begin_end() {
  ending_ = true;
  ready_ = false;
  notify_supervisor("STOPPING=1");
  server_->drain();
  if (durable_) durable_->begin_end();
  const auto sessions = sessions_;  // one that is over takes itself out
  for (const auto& session : sessions) session->end();
  go_judge_->begin_end();
  deadlines_->at(sys::monotonic_now() + options_.grace, [this] { cancel_rest(); });
  end_if_idle();
}

void Service::cancel_rest() {
  dispatcher_->cancel_all();
  deadlines_->at(sys::monotonic_now() + kLastAnswers, [this] {
    ended_ = true;
    loop_.stop();
  });
  end_if_idle();
}

void Service::end_if_idle() {
  if (!ending_ || ended_) return;
  if (dispatcher_->queued() > 0 || dispatcher_->running() > 0 || server_->busy()) return;
  if (durable_ && durable_->busy()) return;
  ended_ = true;
  loop_.stop();
}

void Service::handle(const ExchangePtr& exchange) {
  const Request& request = exchange->request;
  exchange->headers = options_.cors.headers(request);
  exchange->trace = read_trace_context(request.headers);
  if (exchange->trace) exchange->headers.emplace_back("traceresponse", exchange->trace->response());
  if (options_.cors.is_preflight(request)) return exchange->answer(Cors::preflight_response());
  if (answer_page(exchange)) return;
  const Match found = match(request.method, request.path, options_.apis);
  const bool pistons = options_.apis.has(Api::kPiston) && request.path.starts_with("/api/v2/");
  if (!found.route && pistons) return exchange->answer(piston::message_response(404, "Not Found"));
  if (!found.route && found.allow.empty())
    return exchange->answer(error_response(404, "not_found", "there is no such path"));
  if (!found.route) {
    Response response = error_response(405, "method", "this path has: " + found.allow);
    response.headers.emplace_back("Allow", found.allow);
    return exchange->answer(std::move(response));
  }
  if (!admit(*exchange, found.route->scope)) return;
  decode_body(exchange, *readers_, options_.http.limits.parser.body,
              [this, exchange, endpoint = found.route->endpoint, parameter = found.parameter] {
                perform(exchange, endpoint, parameter);
              });
}

// A page in somebody's browser may send requests to this host, too.
bool Service::is_welcome(const Request& request) const {
  return request.header("origin") == nullptr || options_.cors.allows(request) ||
         (options_.page && is_own_page(request));
}

const Tokens::Holder* Service::holder_of(const Request& request) const {
  if (const std::string* given = request.header("authorization"))
    return options_.tokens.find(*given);
  if (const std::optional<std::string> offered = offered_token(request))
    return options_.tokens.find("Bearer " + *offered);
  const std::string* key = request.header("x-api-key");  // dify-sandbox's word for it
  return key && options_.apis.has(Api::kDify) ? options_.tokens.find("Bearer " + *key) : nullptr;
}

bool Service::admit(Exchange& exchange, Scope scope) {
  if (scope == Scope::kOpen || exchange.peer.is_unix) return true;
  if (options_.tokens.empty()) {
    const bool known = options_.hosts.knows(exchange.request, exchange.peer.is_this_host);
    if (known && is_welcome(exchange.request)) return true;
    exchange.answer(known
                        ? error_response(403, "origin", "requests of web pages need a token")
                        : error_response(403, "host",
                                         "this service is not known by that name: call it by its "
                                         "address, give it tokens, or start it with --allow-host"));
    return false;
  }
  const Tokens::Holder* holder = holder_of(exchange.request);
  if (!holder) {
    const bool given = exchange.request.header("authorization") != nullptr ||
                       offered_token(exchange.request) ||
                       (options_.apis.has(Api::kDify) && exchange.request.header("x-api-key"));
    Response response =
        error_response(401, "token", given ? "the token is not known" : "expected a bearer token");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    exchange.answer(std::move(response));
    return false;
  }
  exchange.client = holder->name;
  if (holder->may(scope)) return true;
  exchange.answer(error_response(
      403, "scope", fmt::format("the token does not have the scope {}", name_of(scope))));
  return false;
}

void Service::perform(const ExchangePtr& exchange, Endpoint endpoint,
                      const std::string& parameter) {
  const Response fine{.body = "{\"ok\":true}\n"};
  switch (endpoint) {
    case Endpoint::kPostJob:
      return post_job(exchange);
    case Endpoint::kGetJob:
      return get_job(exchange, parameter);
    case Endpoint::kDeleteJob:
      return delete_job(exchange, parameter);
    case Endpoint::kPostBatch:
      return post_batch(exchange);
    case Endpoint::kGetBatch:
      return get_batch(exchange, parameter);
    case Endpoint::kDeleteBatch:
      return delete_batch(exchange, parameter);
    case Endpoint::kAttach:
      return attach(exchange);
    case Endpoint::kRuntimes:
      return get_runtimes(exchange);
    case Endpoint::kTemplates:
      return exchange->answer({.body = facts_.templates});
    case Endpoint::kInfo:
      return get_info(exchange);
    case Endpoint::kPutBlob:
      return put_blob(exchange, parameter);
    case Endpoint::kGetBlob:
    case Endpoint::kHeadBlob:
      return get_blob(exchange, parameter);
    case Endpoint::kHealth:
      return exchange->answer(fine);
    case Endpoint::kReady:
      return exchange->answer(
          ready_ ? fine : busy_response(503, "not_ready", ending_ ? "ending" : "warming up", 1));
    case Endpoint::kMetrics:
      return get_metrics(exchange);
    case Endpoint::kStats:
      return get_stats(exchange);
    case Endpoint::kSelfcheck:
      return post_selfcheck(exchange);
    case Endpoint::kOpenApi:
      return exchange->answer({.body = openapi_json(options_.version)});
    default:
      return perform_foreign(exchange, endpoint, parameter);
  }
}

}  // namespace service
