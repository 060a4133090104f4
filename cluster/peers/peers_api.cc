#include "cluster/peers/peers_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cluster/peers/forwarded.h"
#include "cluster/peers/homes.h"
#include "service/observe/metrics.h"

namespace cluster {

using service::ExchangePtr;
using service::Method;
using service::Request;

namespace {

constexpr std::array<std::string_view, 2> kKeptPlaces{"/v1/jobs/", "/v1/batches/"};
constexpr std::array<std::string_view, 2> kPostedTo{"/v1/jobs", "/v1/batches"};
constexpr unsigned kAskAgain = 1;  // seconds
// Whoever waits for the verdict of a job with a key may ask again when that is over.
constexpr sys::Milliseconds kForVerdict{900'000};
constexpr sys::Milliseconds kToldAgain{60'000};  // to the log, while a router is away

// The id that a request asks for; empty: it asks for none.
std::string_view id_in(const Request& request) {
  for (const std::string_view place : kKeptPlaces) {
    if (request.path.starts_with(place)) return std::string_view(request.path).substr(place.size());
  }
  return {};
}

// Beside the patience with a router: for the job, which a client may wait for.
sys::Milliseconds patience_with_job(const Request& request) {
  const std::string* async = request.query_value("async");
  if (request.method == Method::kPost && (!async || *async != "1")) return kForVerdict;
  const std::string* wait = request.query_value("wait");
  const double seconds = wait ? service::read_seconds(*wait, service::kLongestWait).value_or(0) : 0;
  return sys::Milliseconds(static_cast<int64_t>(seconds * 1000));
}

// Tokens are the same everywhere; a user of a unix socket is nobody elsewhere.
bool is_known_elsewhere(const service::Exchange& exchange) { return !exchange.peer.is_unix; }

service::Response not_reached(const std::string& router, const sys::Error& why) {
  return service::busy_response(503, "router_unreachable",
                                fmt::format("router {} has it: {}", router, why.text()), kAskAgain);
}

}  // namespace

PeersApi::Known::Known(PeersApi& all, uint32_t number, Peer known)
    : peer(std::move(known)),
      dialer(all.context_.loop,
             {.start =
                  [&all, number](DialerProcesses::Then then) {
                    all.processes_->start_one(number, std::move(then));
                  },
              .lost = [&all, this](const auto& why) { all.tell(*this, why.text()); }}) {}

PeersApi::PeersApi(const service::ApiContext& context, Options options)
    : context_(context),
      router_(std::move(options.router)),
      tls_(std::move(options.tls)),
      patience_(options.patience),
      names_{router_} {
  processes_.emplace(context_.loop, std::move(options.processes), [this] {
    context_.log.note(
        "the process that starts those that connect to other routers has ended: when one of these "
        "ends, too, its router is out of reach until this router is started again");
  });
  for (uint32_t number = 0; number < options.others.size(); ++number) {
    Peer& other = options.others[number];
    names_.push_back(other.name);
    others_.try_emplace(other.name, *this, number, other);
  }
}

bool PeersApi::takes(const ExchangePtr& exchange, const std::function<void()>& here) {
  const Request& request = exchange->request;
  if (request.header(kForwardedBy)) return false;
  if (const std::string_view id = id_in(request); !id.empty()) return takes_id(exchange, id);
  const std::string* key = request.header("idempotency-key");
  const bool is_post = request.method == Method::kPost &&
                       std::ranges::find(kPostedTo, request.path) != kPostedTo.end();
  if (!key || !is_post || !is_known_elsewhere(*exchange)) return false;
  const std::string* durable = request.query_value("durable");
  find_home(std::make_shared<Search>(Search{.exchange = exchange,
                                            .here = here,
                                            .homes = homes_of(names_, exchange->client, *key),
                                            .is_durable = durable && *durable == "1"}),
            0);
  return true;
}

bool PeersApi::takes_id(const ExchangePtr& exchange, std::string_view id) {
  const auto found = others_.find(router_in(id));
  if (found == others_.end()) return false;
  const std::string& router = found->first;
  if (!is_known_elsewhere(*exchange)) {
    exchange->answer(service::error_response(
        421, "router", fmt::format("router {} has it: ask with a token, or ask that one", router)));
    return true;
  }
  exchange->jobs.emplace_back(id);
  forward(exchange, found->second, [exchange, router](const sys::Error& why) {
    exchange->answer(not_reached(router, why));
  });
  return true;
}

// A ledger knows what was sent before, and nobody else does: a durable job waits for its home.
void PeersApi::find_home(const std::shared_ptr<Search>& search, size_t index) {
  const std::string& home = search->homes.at(index);
  if (home == router_) return search->here();
  const bool is_last = search->is_durable || index + 1 == search->homes.size();
  forward(search->exchange, others_.at(home),
          [this, search, index, is_last, home](const sys::Error& why) {
            is_last ? search->exchange->answer(not_reached(home, why))
                    : find_home(search, index + 1);
          });
}

// To the log; of a router that is away now and then, not for each request.
void PeersApi::tell(Known& router, const std::string& why) {
  const sys::Nanoseconds now = sys::monotonic_now();
  if (router.told && now < *router.told + kToldAgain) return;
  router.told = now;
  context_.log.note(fmt::format("router {}: {}", router.peer.name, why));
}

void PeersApi::append_metrics(std::string& into) const {
  add_metric(into, "zygo_forwarded_requests_total", "counter",
             "Requests that were another router's to answer.",
             [](const Known& known) { return known.forwarded; });
  add_metric(into, "zygo_unreachable_router_requests_total", "counter",
             "Those of them that could not be brought there.",
             [](const Known& known) { return known.unreachable; });
  add_metric(into, "zygo_router_dialers", "gauge", "Processes that connect to another router.",
             [](const Known& known) { return known.dialer.pid() == 0 ? 0 : 1; });
}

void PeersApi::add_metric(std::string& into, const char* name, const char* kind, const char* help,
                          const std::function<uint64_t(const Known&)>& value) const {
  service::describe_metric(into, name, kind, help);
  for (const auto& [router, known] : others_)
    into += fmt::format("{}{{router=\"{}\"}} {}\n", name, router, value(known));
}

void PeersApi::forward(const ExchangePtr& exchange, Known& to,
                       std::function<void(const sys::Error&)> unreachable) {
  auto forward = std::make_shared<Forward>(
      exchange, Forward::House{.loop = context_.loop,
                               .peer = to.peer,
                               .dialer = to.dialer,
                               .tls = tls_.get(),
                               .from = router_,
                               .patience_to_connect = patience_,
                               .patience = patience_ + patience_with_job(exchange->request),
                               .unreachable =
                                   [this, &to, then = std::move(unreachable)](const auto& why) {
                                     ++to.unreachable;
                                     tell(to, why.text());
                                     then(why);
                                   },
                               .trouble = [this, &to](const auto& why) { tell(to, why); },
                               .over = [this](const auto& ended) { forwards_.erase(ended); }});
  ++to.forwarded;
  forwards_.insert(forward);
  forward->start();
}

}  // namespace cluster
