// Jobs and batches over HTTP.

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>

#include "service/admission/refusals.h"
#include "service/service.h"

namespace service {

namespace {

constexpr double kLongestPatience = 86'400;  // seconds
// Of one batch at once, for each worker: enough that none is idle while results travel.
constexpr size_t kBatchJobsPerWorker = 4;
constexpr size_t kLongBody = size_t{128} << 10;  // is read on another thread

sys::Milliseconds from_seconds(double seconds) {
  return sys::Milliseconds(static_cast<int64_t>(seconds * 1000));
}

}  // namespace

// Cannot be guessed, so it says who may ask for the result where there are no tokens.
std::string Service::new_id() {
  unsigned char bytes[16];
  VERIFY(::getrandom(bytes, sizeof bytes, 0) == static_cast<ssize_t>(sizeof bytes));
  std::string id = "j-";
  for (unsigned char byte : bytes) id += fmt::format("{:02x}", byte);
  return id;
}

std::optional<Response> Service::read_patience(const Exchange& exchange,
                                               std::optional<sys::Milliseconds>& patience) const {
  const std::string* given = exchange.request.header("x-zygo-patience");
  if (!given) return std::nullopt;
  const std::optional<double> seconds = read_seconds(*given, kLongestPatience);
  if (!seconds)
    return error_response(400, "patience", "X-Zygo-Patience: expected seconds, 0 to 86400");
  patience = from_seconds(*seconds);
  return std::nullopt;
}

void Service::post_job(const ExchangePtr& exchange) {
  if (ending_) return exchange->answer(ending());
  const std::optional<bool> durable = wants_durable(*exchange);
  if (!durable) return;
  Dispatcher::Order order;
  if (auto bad = read_patience(*exchange, order.patience)) return exchange->answer(*bad);
  auto job = std::make_shared<sys::Result<runtime::Job>>(runtime::Job{});
  read_aside(
      exchange,
      [exchange, job, defaults = &options_.defaults] {
        *job = runtime::parse_job(exchange->request.body, *defaults);
      },
      [this, exchange, job, order = std::make_shared<Dispatcher::Order>(std::move(order)),
       durable = *durable] { take_job(exchange, std::move(*job), std::move(*order), durable); });
}

// What is short is read at once. What is long would hold up all other clients meanwhile.
void Service::read_aside(const ExchangePtr& exchange, std::function<void()> read,
                         std::function<void()> then) {
  if (exchange->request.body.size() <= kLongBody) {
    read();
    return then();
  }
  readers_->read(exchange->client, std::move(read), [exchange, then = std::move(then)] {
    if (exchange->open()) then();
  });
}

void Service::take_job(const ExchangePtr& exchange, sys::Result<runtime::Job> job,
                       Dispatcher::Order order, bool durable) {
  if (ending_) return exchange->answer(ending());
  if (!job) return exchange->answer(bad_job_response(job.error().text()));
  if (!facts_.knows_template(job->template_name))
    return exchange->answer(unknown_template(job->template_name));
  if (const auto tenant = tenancy_.tenant_of(exchange->client, job->tenant); !tenant)
    return exchange->answer(not_its_tenant(tenant.error()));
  if (job->deadline)
    order.patience = std::min(order.patience.value_or(*job->deadline), *job->deadline);
  if (durable) return keep_job(exchange, *job, order.patience);
  const std::string* async = exchange->request.query_value("async");
  order.job = std::move(job).value();
  order.client = exchange->client;
  order.trace = exchange->trace;
  exchange->request.body = std::string();  // the job has it now
  order.share = std::move(exchange->share);
  async&&* async == "1" ? submit_kept(exchange, std::move(order))
                        : submit_job(exchange, std::move(order));
}

void Service::submit_job(const ExchangePtr& exchange, Dispatcher::Order order) {
  if (order.job.id.empty()) order.job.id = new_id();
  exchange->jobs.push_back(order.job.id);
  exchange->job_count = 1;
  order.done = [exchange](Finished finished) {
    if (finished.expired) return exchange->answer(expired());
    exchange->answer({.body = std::move(finished.json) + "\n", .held = std::move(finished.held)});
  };
  auto taken = dispatcher_->submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken))
    return exchange->answer(busy(*full));
  exchange->when_gone(
      [this, ticket = std::get<Dispatcher::Ticket>(taken)] { dispatcher_->withdraw(ticket); });
}

void Service::submit_kept(const ExchangePtr& exchange, Dispatcher::Order order) {
  const std::string id = new_id();
  if (order.job.id.empty()) order.job.id = id;
  exchange->jobs.push_back(id);
  exchange->job_count = 1;
  order.done = [this, id](Finished finished) { async_results_->end(id, std::move(finished)); };
  async_results_->begin(id, exchange->client);
  auto taken = dispatcher_->submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken)) {
    async_results_->drop(id);
    return exchange->answer(busy(*full));
  }
  async_results_->set_ticket(id, std::get<Dispatcher::Ticket>(taken));
  Response response{.status = 202, .body = fmt::format("{{\"id\":\"{}\"}}\n", id)};
  response.headers.emplace_back("Location", "/v1/jobs/" + id);
  exchange->answer(std::move(response));
}

Response Service::job_response(const Allowance::Share& like, const std::string& id,
                               const AsyncResults::Job& job) const {
  if (job.expired) return expired();
  if (job.ended) {
    std::shared_ptr<void> held = held_share(like, job.json.size());
    if (!held) return held_too_much();
    return {.body = job.json + "\n", .held = std::move(held)};
  }
  const char* state = dispatcher_->has_started(job.ticket) ? "running" : "queued";
  return {.status = 202, .body = fmt::format("{{\"id\":\"{}\",\"state\":\"{}\"}}\n", id, state)};
}

void Service::get_job(const ExchangePtr& exchange, const std::string& id) {
  const AsyncResults::Job* job = async_results_->find(id, exchange->client);
  if (!job) return get_durable_job(exchange, id);
  exchange->jobs.push_back(id);
  const std::string* wait = exchange->request.query_value("wait");
  const std::optional<double> seconds = wait ? read_seconds(*wait, kLongestWait) : 0.0;
  if (!seconds)
    return exchange->answer(error_response(400, "wait", "wait: expected seconds, 0 to 300"));
  if (*seconds == 0) return exchange->answer(job_response(exchange->share, id, *job));
  async_results_->wait(id, from_seconds(*seconds),
                       [this, id, exchange](const AsyncResults::Job& now) {
                         exchange->answer(job_response(exchange->share, id, now));
                       });
}

void Service::delete_job(const ExchangePtr& exchange, const std::string& id) {
  const AsyncResults::Job* job = async_results_->find(id, exchange->client);
  if (!job) return delete_durable_job(exchange, id);
  exchange->jobs.push_back(id);
  const Dispatcher::Ticket ticket = job->ticket;
  async_results_->wait(id, std::nullopt, [this, id, exchange](const AsyncResults::Job& now) {
    exchange->answer(job_response(exchange->share, id, now));
  });
  dispatcher_->withdraw(ticket);
}

void Service::post_batch(const ExchangePtr& exchange) {
  if (ending_) return exchange->answer(ending());
  const std::optional<bool> durable = wants_durable(*exchange);
  if (!durable) return;
  if (*durable) return keep_batch(exchange);
  const std::string* async = exchange->request.query_value("async");
  if (async && *async == "1")
    return exchange->answer(error_response(400, "async", "async: of batches only with durable=1"));
  std::optional<sys::Milliseconds> patience;
  if (auto bad = read_patience(*exchange, patience)) return exchange->answer(*bad);
  auto body = std::make_shared<sys::Result<BatchBody>>(BatchBody{});
  read_aside(
      exchange, [exchange, body] { *body = BatchBody::read(exchange->request.body); },
      [this, exchange, body, patience] { start_batch(exchange, std::move(*body), patience); });
}

void Service::start_batch(const ExchangePtr& exchange, sys::Result<BatchBody> body,
                          std::optional<sys::Milliseconds> patience) {
  if (!body) return exchange->answer(error_response(400, "bad_batch", body.error().text()));
  if (body->is_object) exchange->request.body = std::string();  // its elements are copied
  if (auto full = dispatcher_->refusal(exchange->client, patience))
    return exchange->answer(busy(*full));
  auto over = [this](const std::shared_ptr<BatchStream>& batch) { batches_.erase(batch); };
  auto batch = std::make_shared<BatchStream>(
      exchange, loop_, *dispatcher_, std::move(body).value(), options_.defaults,
      kBatchJobsPerWorker * std::max(1u, engine_.workers()), std::move(over));
  batches_.insert(batch);
  batch->start();
}

}  // namespace service
