#include "service/service.h"

#include <unistd.h>

#include <algorithm>

#include "service/admission/encoded_body.h"
#include "service/page/page.h"

namespace service {

namespace {

// The time after the grace is over: for cancelled jobs to be reported, and answers to be taken.
constexpr sys::Milliseconds kLastAnswers{3000};

// The client that jobs of our own belong to. No token has a name like this.
constexpr const char* kOwnClient = "zygo itself";

Response method_refused(const std::string& allow) {
  Response response = error_response(405, "method", "this path has: " + allow);
  response.headers.emplace_back("Allow", allow);
  return response;
}

// The page itself holds nothing that is secret, so nobody is asked for a token. False: the path is
// none of the page's.
bool answer_page(const ExchangePtr& exchange) {
  const Request& request = exchange->request;
  const PageFile* file = page_file(request.path);
  if (!file) return false;
  const bool reads = request.method == Method::kGet || request.method == Method::kHead;
  exchange->answer(reads ? page_response(*file, request) : method_refused("GET, HEAD"));
  return true;
}

}  // namespace

std::string_view name_of(Phase phase) {
  return phase == Phase::kWarmingUp ? "warming up" : phase == Phase::kReady ? "ready" : "ending";
}

Service::Service(runtime::Engine& engine, ServiceOptions options, Facts facts)
    : engine_(engine),
      options_(std::move(options)),
      tenancy_(options_.tenant_by, options_.tokens),
      facts_(std::move(facts)),
      guard_({options_.tokens, options_.cors, options_.hosts, options_.page}),
      held_(options_.held),
      runtimes_(loop_, facts_.runtimes),
      observer_([this] { return gauges(); }),
      log_(options_.log, STDERR_FILENO, options_.command),
      deadlines_(loop_),
      readers_(std::make_shared<Readers>(loop_)),
      dispatcher_(engine_, loop_, deadlines_, held_, dispatcher_options()),
      keeper_({tenancy_, engine_, loop_, dispatcher_}, options_.held),
      sessions_({dispatcher_, loop_, deadlines_, held_, guard_, options_.websocket}),
      native_(native_context()),
      foreign_jobs_(dispatcher_),
      foreign_sessions_({keeper_, tenancy_, engine_, dispatcher_, foreign_jobs_, held_,
                         options_.defaults, facts_.knows_template}),
      idle_check_(loop_, [this] { end_if_idle(); }),
      server_(std::make_unique<Server>(loop_, options_.http, held_, server_handler())) {
  router_.add(native_.routes());
  add_apis();
}

Dispatcher::Options Service::dispatcher_options() {
  return {.queue = options_.queue,
          .tenant_of =
              [this](const std::string& client, const std::string& asked) {
                return client == kOwnClient ? sys::Result<std::string>(std::string())
                                            : tenancy_.tenant_of(client, asked);
              },
          .ended = [this](const Finished& job) { observer_.job_ended(job); },
          .room =
              [this] {
                native_.feed();
                end_if_idle();
              }};
}

Server::Handler Service::server_handler() {
  const auto answered = [this](int status) {
    observer_.answered(status, dispatcher_.queued(), dispatcher_.running());
  };
  Server::Handler handler;
  handler.handle = [this](const ExchangePtr& exchange) { handle(exchange); };
  handler.finished = [this, answered](const Exchange& exchange) {
    answered(exchange.status());
    log_.answered(exchange);
    if (is_ending()) idle_check_.wake();
  };
  handler.refused = [this, answered](const Peer& peer, int status) {
    answered(status);
    log_.refused(peer, status);
  };
  handler.changed = [this] { end_if_idle(); };
  handler.client_of = [this](const Request& request, const Peer& peer) {
    const Tokens::Holder* holder = peer.is_unix ? nullptr : guard_.holder_of(request);
    return holder ? holder->name : peer.name;
  };
  handler.is_probe = [this](const Request& request) {
    const Match found = router_.match(request);
    return found.route && found.route->probe == Probe::kYes;
  };
  handler.aside = [this](const std::string& client, std::function<void()> work,
                         std::function<void()> then) {
    readers_->read(client, std::move(work), std::move(then));
  };
  return handler;
}

NativeContext Service::native_context() {
  return {.options = options_,
          .facts = facts_,
          .phase = phase_,
          .tenancy = tenancy_,
          .engine = engine_,
          .loop = loop_,
          .deadlines = deadlines_,
          .readers = *readers_,
          .dispatcher = dispatcher_,
          .keeper = keeper_,
          .sessions = sessions_,
          .runtimes = runtimes_,
          .observer = observer_,
          .rested = [this] { end_if_idle(); },
          .append_metrics =
              [this](std::string& into) {
                for (const auto& api : apis_) api->append_metrics(into);
              },
          .describe_others =
              [this](Described& into) {
                for (const auto& api : apis_) api->describe_to(into);
              }};
}

void Service::add_apis() {
  const bool knows_clients = !options_.tokens.empty() || options_.tenant_by != TenantBy::kNone;
  const ApiContext context{.jobs = foreign_jobs_,
                           .foreign_sessions = foreign_sessions_,
                           .sessions = sessions_,
                           .runtimes = runtimes_,
                           .dispatcher = dispatcher_,
                           .loop = loop_,
                           .deadlines = deadlines_,
                           .readers = *readers_,
                           .held = held_,
                           .guard = guard_,
                           .log = log_,
                           .defaults = options_.defaults,
                           .layers = engine_.standing().layers,
                           .version = options_.version,
                           .most_held = options_.held,
                           .knows_clients = knows_clients,
                           .websocket = options_.websocket,
                           .head_time = options_.http.limits.head,
                           .rested = [this] { end_if_idle(); }};
  const auto add = [this](std::unique_ptr<Api> made) {
    Api& api = *apis_.emplace_back(std::move(made));
    router_.add(api.routes());
    guard_.accept_token_in(api.token_places());
  };
  for (const KnownApi* known : options_.apis) add(known->make(context, options_.api_options));
  for (const ApiMaker& make : options_.parts) add(make(context));
}

// Connections first: what they lose, the dispatcher withdraws.
Service::~Service() {
  server_.reset();
  native_.drop_all();
  sessions_.drop_all();
  runtimes_.drop_waiting();
}

sys::Result<void> Service::run(int stop, int reload, std::function<void()> ready) {
  on_ready_ = std::move(ready);
  if (facts_.join) facts_.join(loop_);
  runtime::start_aside(loop_);
  TRY(native_.durable().open());
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
  warm_up();
  loop_.run();
  if (failure_) return *failure_;
  return {};
}

// The first job of a template waits for its interpreter to start: let it be one of ours.
void Service::warm_up() {
  auto is_ready = [this](const Finished& job) {
    if (phase_ != Phase::kWarmingUp) return;
    if (options_.warm && job.label != "OK") {
      failure_ = sys::Error::because("the default template does not work: " + job.json);
      return loop_.stop();
    }
    phase_ = Phase::kReady;
    native_.durable().start();
    tell(runtime::ServiceState::kReady);
    on_ready_();
  };
  if (!options_.warm) return is_ready({});
  Dispatcher::Order order;
  order.job.template_name = options_.defaults.job.template_name;
  order.job.id = "warm-up";
  order.client = kOwnClient;
  order.done = is_ready;
  (void)dispatcher_.submit(std::move(order));
}

void Service::tell(runtime::ServiceState state) const {
  if (facts_.tell) facts_.tell(state);
}

void Service::begin_end() {
  phase_ = Phase::kEnding;
  tell(runtime::ServiceState::kEnding);
  server_->drain();
  native_.durable().begin_end();
  foreign_jobs_.begin_end();
  sessions_.begin_end();
  for (const auto& api : apis_) api->begin_end();
  deadlines_.at(sys::monotonic_now() + options_.grace, [this] { cancel_rest(); });
  end_if_idle();
}

void Service::cancel_rest() {
  dispatcher_.cancel_all();
  deadlines_.at(sys::monotonic_now() + kLastAnswers, [this] {
    phase_ = Phase::kEnded;
    loop_.stop();
  });
  end_if_idle();
}

void Service::end_if_idle() {
  if (phase_ != Phase::kEnding) return;
  if (dispatcher_.queued() > 0 || dispatcher_.running() > 0 || native_.durable().busy()) return;
  if (std::ranges::any_of(apis_, [](const auto& api) { return api->is_busy(); })) return;
  for (const auto& api : apis_) api->close_rest();
  if (server_->busy()) return;
  phase_ = Phase::kEnded;
  loop_.stop();
}

void Service::handle(const ExchangePtr& exchange) {
  const Request& request = exchange->request;
  exchange->headers = options_.cors.headers(request);
  exchange->trace = read_trace_context(request.headers);
  if (exchange->trace) exchange->headers.emplace_back("traceresponse", exchange->trace->response());
  if (!options_.router.empty()) exchange->headers.emplace_back("X-Zygo-Router", options_.router);
  if (options_.cors.is_preflight(request)) return exchange->answer(Cors::preflight_response());
  if (options_.page && answer_page(exchange)) return;
  const Match found = router_.match(request);
  if (!found.route) return refuse_unknown(exchange, found.allow);
  if (!guard_.admit(*exchange, found.route->scope)) return;
  const auto here = [this, exchange, &handle = found.route->handle, parameter = found.parameter] {
    decode_body(exchange, *readers_, options_.http.limits.parser.body,
                [exchange, &handle, parameter] { handle(exchange, parameter); });
  };
  const auto takes = [&](const auto& api) { return api->takes(exchange, here); };
  if (std::ranges::none_of(apis_, takes)) here();
}

// `allow`: the methods that the path has; empty: there is no such path.
void Service::refuse_unknown(const ExchangePtr& exchange, const std::string& allow) const {
  for (const auto& api : apis_) {
    if (auto response = api->answer_without_route(exchange->request))
      return exchange->answer(std::move(*response));
  }
  exchange->answer(allow.empty() ? error_response(404, "not_found", "there is no such path")
                                 : method_refused(allow));
}

Gauges Service::gauges() const {
  const DurableApi& durable = native_.durable();
  return {.queued = dispatcher_.queued(),
          .most_queued = dispatcher_.most_queued(),
          .running = dispatcher_.running(),
          .workers = engine_.workers(),
          .connections = server_->connections(),
          .estimated_wait = dispatcher_.estimated_wait(),
          .held_bytes = held_.held(),
          .most_held_bytes = held_.most(),
          .durable_waiting = durable.waiting(),
          .durable_unwritten = durable.unwritten(),
          .sessions = keeper_.book().sessions(),
          .session_steps = keeper_.book().steps(),
          .session_bytes = keeper_.book().bytes(),
          .engine = engine_.counts(),
          .resources = Resources::now()};
}

}  // namespace service
