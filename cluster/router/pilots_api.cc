#include "cluster/router/pilots_api.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "sandbox/requirements.h"
#include "service/admission/refusals.h"
#include "service/http/handshake.h"

namespace cluster {

using nlohmann::ordered_json;
using service::ExchangePtr;

namespace {

constexpr sys::Milliseconds kForAMessage{60'000};
constexpr size_t kLongestHello = size_t{2} << 20;  // before we know who it is

ordered_json described(const Fleet::Member& member, size_t jobs) {
  const auto age =
      std::chrono::duration_cast<std::chrono::seconds>(sys::monotonic_now() - member.since);
  const char* const state = member.lapsed ? "silent" : member.draining ? "draining" : "ready";
  return {{"name", member.hello.name},
          {"address", member.address},
          {"engine", member.hello.engine},
          {"zygo", member.hello.zygo},
          {"state", state},
          {"level", sandbox::name_of(static_cast<sandbox::Level>(member.hello.level))},
          {"workers", member.hello.workers},
          {"templates", member.hello.templates},
          {"jobs", jobs},
          {"under_way", member.status.under_way},
          {"mean_us", member.status.mean_us},
          {"ended", member.ended},
          {"joined_s", age.count()},
          {"until", member.hello.until == 0 ? ordered_json() : ordered_json(member.hello.until)}};
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
  using service::Method;
  using service::Scope;
  return {{Method::kGet, "/v1/pilots/join", Scope::kPilot,
           [this](const ExchangePtr& exchange, const std::string&) { join(exchange); }},
          {Method::kGet, "/v1/pilots", Scope::kMetrics,
           [this](const ExchangePtr& exchange, const std::string&) { list(exchange); }}};
}

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
      .log = options_.log,
      .trouble = options_.trouble,
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
  ordered_json pilots = ordered_json::array();
  for (const auto& [pilot, member] : fleet_.members())
    pilots.push_back(described(member, fleet_.assignments().size_of(pilot)));
  const ordered_json all = {{"router", options_.router},
                            {"lease_ms", options_.lease.count()},
                            {"workers", fleet_.workers()},
                            {"lost", fleet_.lost_pilots()},
                            {"restarts", fleet_.assignments().restarts()},
                            {"doubles", fleet_.assignments().doubles()},
                            {"pilots", std::move(pilots)}};
  // Names are UTF-8 (objection_to); nothing that a pilot says may end the router.
  using Handler = ordered_json::error_handler_t;
  exchange->answer({.body = all.dump(2, ' ', false, Handler::replace) + "\n"});
}

}  // namespace cluster
