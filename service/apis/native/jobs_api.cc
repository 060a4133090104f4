#include "service/apis/native/jobs_api.h"

#include <fmt/format.h>

#include <algorithm>

#include "service/admission/refusals.h"

namespace service {

namespace {

// The jobs of one batch at once, for each worker: more than the dispatcher gives to the engine.
constexpr size_t kBatchJobsPerWorker = 12;
constexpr Parameter kDurable{"durable", "query",
                             "1, with async=1: on the disk before it is acknowledged."};
constexpr Parameter kKey{"Idempotency-Key", "header",
                         "Of a durable request: when it is sent again, it gets the same id."};
constexpr Parameter kWait{"wait", "query", "Seconds, up to 300, to wait for the result."};
constexpr size_t kLongBody = size_t{128} << 10;  // is read on another thread

sys::Milliseconds from_seconds(double seconds) {
  return sys::Milliseconds(static_cast<int64_t>(seconds * 1000));
}

}  // namespace

JobsApi::JobsApi(const NativeContext& context, DurableApi& durable)
    : context_(context),
      durable_(durable),
      results_(context.deadlines, context.options.kept.within(context.options.held / 4)) {}

const Operations<JobsApi>& JobsApi::operations() {
  static const Operations<JobsApi> all = {
      {{.method = Method::kPost,
        .pattern = "/v1/jobs",
        .scope = Scope::kJobs,
        .summary = "Run one job. Answers with its result, or at once with an id.",
        .takes = kJson,
        .gives = kJson,
        .statuses = {200, 202, 400, 422, 429, 502, 507},
        .parameters =
            {{"async", "query", "1: answer 202 with an id at once."}, kDurable, kKey, kPatience},
        .takes_shape = Description::Shape::kJob,
        .gives_shape = Description::Shape::kResult},
       &JobsApi::post_job},
      {{.method = Method::kGet,
        .pattern = "/v1/jobs/{id}",
        .scope = Scope::kJobs,
        .summary =
            "The result of a job that was sent with async=1, or its state while there is none.",
        .takes = "",
        .gives = kJson,
        .statuses = {200, 202, 400, 404, 421, 429, 502},
        .parameters = {kWait},
        .gives_shape = Description::Shape::kResult},
       &JobsApi::get_job},
      {{.method = Method::kDelete,
        .pattern = "/v1/jobs/{id}",
        .scope = Scope::kJobs,
        .summary = "Cancel a job. Answers with its result: Cancelled, unless it had ended before.",
        .takes = "",
        .gives = kJson,
        .statuses = {200, 202, 404, 421, 429, 502},
        .gives_shape = Description::Shape::kResult},
       &JobsApi::delete_job},
      {{.method = Method::kPost,
        .pattern = "/v1/batches",
        .scope = Scope::kJobs,
        .summary = "Run many jobs: a line each, or {\"defaults\", \"jobs\"}. Results in order of "
                   "completion.",
        .takes = kLines,
        .gives = kLines,
        .statuses = {200, 202, 400, 422, 429, 502, 507},
        .parameters = {{"async", "query", "1, with durable=1: answer 202 with an id at once."},
                       kDurable,
                       kKey,
                       kPatience},
        .gives_shape = Description::Shape::kResult},
       &JobsApi::post_batch},
      {{.method = Method::kGet,
        .pattern = "/v1/batches/{id}",
        .scope = Scope::kJobs,
        .summary =
            "Results of a durable batch in order of completion, X-Zygo-Jobs when all are there.",
        .takes = "",
        .gives = kLines,
        .statuses = {200, 400, 404, 421, 502},
        .parameters = {{"after", "query", "Number of results to skip: those that the client has."},
                       kWait},
        .gives_shape = Description::Shape::kResult},
       &JobsApi::get_batch},
      {{.method = Method::kDelete,
        .pattern = "/v1/batches/{id}",
        .scope = Scope::kJobs,
        .summary =
            "Cancel the jobs of a durable batch that have not ended. Each still gets its result.",
        .takes = "",
        .gives = kJson,
        .statuses = {202, 404, 421, 502}},
       &JobsApi::delete_batch},
  };
  return all;
}

void JobsApi::feed() {
  const auto batches = batches_;  // one that is over takes itself out
  for (const auto& batch : batches) batch->feed();
}

void JobsApi::get_batch(const ExchangePtr& exchange, const std::string& id) {
  durable_.get_batch(exchange, id);
}

void JobsApi::delete_batch(const ExchangePtr& exchange, const std::string& id) {
  durable_.delete_batch(exchange, id);
}

void JobsApi::post_job(const ExchangePtr& exchange, const std::string&) {
  if (context_.is_ending()) return exchange->answer(ending());
  const std::optional<bool> durable = durable_.is_wanted(*exchange);
  if (!durable) return;
  Dispatcher::Order order;
  if (auto bad = read_patience(exchange->request, order.patience)) return exchange->answer(*bad);
  auto job = std::make_shared<sys::Result<runtime::Job>>(runtime::Job{});
  read_aside(
      exchange,
      [exchange, job, defaults = &context_.options.defaults] {
        *job = runtime::parse_job(exchange->request.body, *defaults);
      },
      [this, exchange, job, order = std::make_shared<Dispatcher::Order>(std::move(order)),
       durable = *durable] { take_job(exchange, std::move(*job), std::move(*order), durable); });
}

// A short body is read at once. A long one would hold up all other clients meanwhile.
void JobsApi::read_aside(const ExchangePtr& exchange, std::function<void()> read,
                         std::function<void()> then) {
  if (exchange->request.body.size() <= kLongBody) {
    read();
    return then();
  }
  context_.readers.read(exchange->client, std::move(read), [exchange, then = std::move(then)] {
    if (exchange->open()) then();
  });
}

void JobsApi::take_job(const ExchangePtr& exchange, sys::Result<runtime::Job> job,
                       Dispatcher::Order order, bool durable) {
  if (context_.is_ending()) return exchange->answer(ending());
  if (!job) return exchange->answer(bad_job_response(job.error().text()));
  if (!context_.facts.knows_template(job->template_name))
    return exchange->answer(unknown_template(job->template_name));
  if (const auto tenant = context_.tenancy.tenant_of(exchange->client, job->tenant); !tenant)
    return exchange->answer(not_its_tenant(tenant.error()));
  if (job->deadline)
    order.patience = std::min(order.patience.value_or(*job->deadline), *job->deadline);
  if (durable) return durable_.keep_job(exchange, *job, order.patience);
  const std::string* async = exchange->request.query_value("async");
  order.job = std::move(job).value();
  order.client = exchange->client;
  order.trace = exchange->trace;
  exchange->request.body = std::string();  // the job has it now
  order.share = std::move(exchange->share);
  async&&* async == "1" ? submit_kept(exchange, std::move(order))
                        : submit(exchange, std::move(order));
}

void JobsApi::submit(const ExchangePtr& exchange, Dispatcher::Order order) {
  if (order.job.id.empty()) order.job.id = new_job_id();
  exchange->jobs.push_back(order.job.id);
  exchange->job_count = 1;
  order.done = [exchange](Finished finished) {
    if (finished.expired) return exchange->answer(expired());
    exchange->answer({.body = std::move(finished.json) + "\n", .held = std::move(finished.held)});
  };
  auto taken = context_.dispatcher.submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken))
    return exchange->answer(busy(*full));
  exchange->when_gone([this, ticket = std::get<Dispatcher::Ticket>(taken)] {
    context_.dispatcher.withdraw(ticket);
  });
}

void JobsApi::submit_kept(const ExchangePtr& exchange, Dispatcher::Order order) {
  const std::string id = context_.new_kept_id();
  if (order.job.id.empty()) order.job.id = id;
  exchange->jobs.push_back(id);
  exchange->job_count = 1;
  order.done = [this, id](Finished finished) { results_.end(id, std::move(finished)); };
  results_.begin(id, exchange->client);
  auto taken = context_.dispatcher.submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken)) {
    results_.drop(id);
    return exchange->answer(busy(*full));
  }
  results_.set_ticket(id, std::get<Dispatcher::Ticket>(taken));
  Response response{.status = 202, .body = fmt::format("{{\"id\":\"{}\"}}\n", id)};
  response.headers.emplace_back("Location", "/v1/jobs/" + id);
  exchange->answer(std::move(response));
}

// Answers when the job has ended, or with its state after `wait` (none: however long it takes).
void JobsApi::await_result(const ExchangePtr& exchange, const std::string& id,
                           std::optional<sys::Milliseconds> wait) {
  auto then = [this, id, exchange](const AsyncResults::Job& now) {
    exchange->answer(job_response(exchange->share, id, now));
  };
  const AsyncResults::WaitingId waiting = results_.wait(id, wait, std::move(then));
  if (waiting != 0) exchange->when_gone([this, id, waiting] { results_.leave(id, waiting); });
}

Response JobsApi::job_response(const Allowance::Share& like, const std::string& id,
                               const AsyncResults::Job& job) const {
  if (job.expired) return expired();
  if (job.ended) {
    std::shared_ptr<void> held = held_share(like, job.json.size());
    if (!held) return held_too_much();
    return {.body = job.json + "\n", .held = std::move(held)};
  }
  const char* state = context_.dispatcher.has_started(job.ticket) ? "running" : "queued";
  return {.status = 202, .body = fmt::format("{{\"id\":\"{}\",\"state\":\"{}\"}}\n", id, state)};
}

void JobsApi::get_job(const ExchangePtr& exchange, const std::string& id) {
  const AsyncResults::Job* job = results_.find(id, exchange->client);
  if (!job) return durable_.get_job(exchange, id);
  exchange->jobs.push_back(id);
  const std::string* wait = exchange->request.query_value("wait");
  const std::optional<double> seconds = wait ? read_seconds(*wait, kLongestWait) : 0.0;
  if (!seconds)
    return exchange->answer(error_response(400, "wait", "wait: expected seconds, 0 to 300"));
  if (*seconds == 0) return exchange->answer(job_response(exchange->share, id, *job));
  await_result(exchange, id, from_seconds(*seconds));
}

void JobsApi::delete_job(const ExchangePtr& exchange, const std::string& id) {
  const AsyncResults::Job* job = results_.find(id, exchange->client);
  if (!job) return durable_.delete_job(exchange, id);
  exchange->jobs.push_back(id);
  const Dispatcher::Ticket ticket = job->ticket;
  await_result(exchange, id, std::nullopt);
  context_.dispatcher.withdraw(ticket);
}

void JobsApi::post_batch(const ExchangePtr& exchange, const std::string&) {
  if (context_.is_ending()) return exchange->answer(ending());
  const std::optional<bool> durable = durable_.is_wanted(*exchange);
  if (!durable) return;
  if (*durable) return durable_.keep_batch(exchange);
  const std::string* async = exchange->request.query_value("async");
  if (async && *async == "1")
    return exchange->answer(error_response(400, "async", "async: of batches only with durable=1"));
  std::optional<sys::Milliseconds> patience;
  if (auto bad = read_patience(exchange->request, patience)) return exchange->answer(*bad);
  auto body = std::make_shared<sys::Result<BatchBody>>(BatchBody{});
  read_aside(
      exchange, [exchange, body] { *body = BatchBody::read(exchange->request.body); },
      [this, exchange, body, patience] { start_batch(exchange, std::move(*body), patience); });
}

void JobsApi::start_batch(const ExchangePtr& exchange, sys::Result<BatchBody> body,
                          std::optional<sys::Milliseconds> patience) {
  if (!body) return exchange->answer(error_response(400, "bad_batch", body.error().text()));
  if (body->is_object) exchange->request.body = std::string();  // its elements are copied
  if (auto full = context_.dispatcher.refusal(exchange->client, patience))
    return exchange->answer(busy(*full));
  auto over = [this](const std::shared_ptr<BatchStream>& batch) { batches_.erase(batch); };
  auto batch = std::make_shared<BatchStream>(
      exchange, context_.loop, context_.dispatcher, std::move(body).value(),
      context_.options.defaults, kBatchJobsPerWorker * std::max(1u, context_.engine.workers()),
      std::move(over));
  batches_.insert(batch);
  batch->start();
}

}  // namespace service
