#include "cluster/router/pilots_api.h"

#include <fmt/format.h>

#include <utility>

#include "cluster/router/pilots_report.h"
#include "sandbox/requirements.h"
#include "service/admission/refusals.h"
#include "service/apis/native/operation.h"
#include "service/http/handshake.h"

namespace cluster {

using service::ExchangePtr;

namespace {

constexpr sys::Milliseconds kForAMessage{60'000};
constexpr size_t kLongestHello = size_t{2} << 20;  // before we know who it is

const service::Description kList{
    .method = service::Method::kGet,
    .pattern = "/v1/pilots",
    .scope = service::Scope::kMetrics,
    .summary = "The pilots of this router.",
    .takes = "",
    .gives = service::kJson,
    .statuses = {200},
    .gives_schema = kPilots,
};

const service::Description kJoin{
    .method = service::Method::kGet,
    .pattern = "/v1/pilots/join",
    .scope = service::Scope::kPilot,
    .summary =
        "A WebSocket (subprotocol zygo.pilot) over which a pilot takes jobs. Its messages are "
        "for zygo pilot alone.",
    .takes = "",
    .gives = service::kJson,
    .statuses = {101, 400, 426, 503},
};

service::Route route_of(const service::Description& about, service::Handler handle) {
  return {about.method, about.pattern, about.scope, std::move(handle), about.probe};
}

}  // namespace

PilotsApi::PilotsApi(const service::ApiContext& context, Fleet& fleet, KnownRuntimes& runtimes,
                     Options options)
    : context_(context), fleet_(fleet), runtimes_(runtimes), options_(std::move(options)) {
  fleet_.join(context_.loop);
  fleet_.on_change([this] {
    context_.dispatcher.workers_changed();
    context_.rested();
  });
}

PilotsApi::~PilotsApi() {
  fleet_.on_change(nullptr);
  fleet_.close();
}

service::Routes PilotsApi::routes() {
  return {route_of(kList, [this](const ExchangePtr& exchange, auto&) { list(exchange); }),
          route_of(kJoin, [this](const ExchangePtr& exchange, auto&) { join(exchange); })};
}

void PilotsApi::describe_to(service::Described& into) const {
  into.operations.insert(into.operations.end(), {kList, kJoin});
  for (auto& schema : schemas_of_pilots()) into.schemas.push_back(std::move(schema));
}

void PilotsApi::append_metrics(std::string& into) const { into += pilots_metrics(fleet_, lost_); }

// Pilots stay until the accepted jobs have ended; who comes now is not needed.
void PilotsApi::begin_end() { ending_ = true; }

void PilotsApi::close_rest() {
  const auto sessions = sessions_;  // one that is over takes itself out
  for (const auto& session : sessions) session->end();
}

std::string PilotsApi::objection_to(const Hello& hello) const {
  const auto level = static_cast<sandbox::Level>(hello.level);
  const auto layers = sandbox::Layers::from_bits(hello.layers);
  if (level > options_.least) {
    return fmt::format("its level is {}, and this router wants {} (--require)",
                       sandbox::name_of(level), sandbox::name_of(options_.least));
  }
  for (unsigned i = 0; i < sandbox::kLayerCount; ++i) {
    const auto layer = static_cast<sandbox::Layer>(i);
    if (options_.layers.has(layer) && !layers.has(layer))
      return fmt::format("it has no layer {} (--require)", sandbox::name_of(layer));
  }
  return {};
}

// One that has drained, and has given back what it had, was not lost.
void PilotsApi::lose(Fleet::Pilot pilot, LostPilots::Reason why, const std::string& message) {
  using std::chrono::duration_cast;
  const Fleet::Member& member = fleet_.members().at(pilot);
  const size_t jobs = fleet_.assignments().size_of(pilot);
  if (member.draining && jobs == 0) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  lost_.add({.name = member.hello.name,
             .address = member.address,
             .engine = member.hello.engine,
             .reason = why,
             .message = message,
             .time_ms = duration_cast<sys::Milliseconds>(now).count(),
             .jobs = jobs,
             .ended = member.ended,
             .here = duration_cast<std::chrono::seconds>(sys::monotonic_now() - member.since)});
}

PilotSession::House PilotsApi::house() {
  return {
      .fleet = fleet_,
      .loop = context_.loop,
      .deadlines = context_.deadlines,
      .router = options_.router,
      .lease = options_.lease,
      .hello = context_.head_time,
      .objection = [this](const Hello& hello) { return objection_to(hello); },
      .runtimes = runtimes_,
      .lost = [this](Fleet::Pilot pilot, LostPilots::Reason why,
                     const std::string& message) { lose(pilot, why, message); },
      .log = [&log = context_.log](const std::string& line) { log.tell(line); },
      .trouble = [&log = context_.log](const std::string& line) { log.note(line); },
      .over = [this](const std::shared_ptr<PilotSession>& session) { sessions_.erase(session); }};
}

void PilotsApi::join(const ExchangePtr& exchange) {
  if (ending_) return exchange->answer(service::ending());
  auto headers = service::shake_hands(exchange->request, kSubprotocol);
  if (auto* refused = std::get_if<service::Response>(&headers))
    return exchange->answer(std::move(*refused));
  service::WebSocket::Limits limits = context_.websocket;
  limits.first_message = kLongestHello;
  limits.message = options_.most_message;
  limits.message_time = kForAMessage;
  const std::string address = exchange->peer.name;
  auto socket =
      std::make_shared<service::WebSocket>(exchange, context_.deadlines, context_.held, limits);
  auto session = std::make_shared<PilotSession>(std::move(socket), address, house());
  sessions_.insert(session);
  session->open(std::get<service::Headers>(headers));
}

void PilotsApi::list(const ExchangePtr& exchange) const {
  exchange->answer({.body = pilots_json(fleet_, lost_, options_.router, options_.lease,
                                        context_.dispatcher.estimated_wait())});
}

}  // namespace cluster
