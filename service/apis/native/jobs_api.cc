#include "service/apis/native/jobs_api.h"

#include <fmt/format.h>

#include <algorithm>

#include "service/admission/refusals.h"

namespace service {

namespace {

constexpr Parameter kDurable{"durable", "query",
                             "1, with async=1: on the disk before it is acknowledged."};
constexpr Parameter kKey{"Idempotency-Key", "header",
                         "1 to 255 printable characters. The same job, sent again with the same "
                         "key, gets the first answer and does not run again."};
constexpr Parameter kBatchKey{"Idempotency-Key", "header",
                              "Of a durable batch: when it is sent again, it gets the same id."};
constexpr Parameter kWait{"wait", "query", "Seconds, up to 300, to wait for the result."};

sys::Milliseconds from_seconds(double seconds) {
  return sys::Milliseconds(static_cast<int64_t>(seconds * 1000));
}

bool is_async(const Request& request) {
  const std::string* async = request.query_value("async");
  return async && *async == "1";
}

const std::string* key_of(const Request& request) { return request.header("idempotency-key"); }

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
                       kBatchKey,
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
  auto arrival = std::make_shared<Arrival>();
  arrival->durable = *durable;
  if (auto bad = read_patience(exchange->request, arrival->patience)) return exchange->answer(*bad);
  context_.readers.read_body(
      exchange,
      [exchange, arrival, defaults = &context_.options.defaults] {
        const std::string& body = exchange->request.body;
        arrival->job = runtime::parse_job(body, *defaults);
        if (key_of(exchange->request) && !arrival->durable) arrival->digest = digest_of_job(body);
      },
      [this, exchange, arrival] { take_job(exchange, *arrival); });
}

void JobsApi::take_job(const ExchangePtr& exchange, Arrival& arrival) {
  if (context_.is_ending()) return exchange->answer(ending());
  sys::Result<runtime::Job>& job = arrival.job;
  if (!job) return exchange->answer(bad_job_response(job.error().text()));
  if (!context_.facts.knows_template(job->template_name))
    return exchange->answer(unknown_template(job->template_name));
  if (const auto tenant = context_.tenancy.tenant_of(exchange->client, job->tenant); !tenant)
    return exchange->answer(not_its_tenant(tenant.error()));
  if (job->deadline)
    arrival.patience = std::min(arrival.patience.value_or(*job->deadline), *job->deadline);
  if (arrival.durable) return durable_.keep_job(exchange, *job, arrival.patience);
  const bool has_key = !arrival.digest.empty(), async = is_async(exchange->request);
  exchange->request.body = std::string();  // the job has it now
  if (has_key) {
    const JobKeys::Known* known = keys_.find(exchange->client, *key_of(exchange->request));
    if (known) return replay(exchange, *known, arrival);
  }
  Dispatcher::Order order;
  order.job = std::move(job).value();
  order.patience = arrival.patience;
  order.client = exchange->client;
  order.trace = exchange->trace;
  order.share = std::exchange(exchange->share, exchange->share.another());
  async || has_key ? submit_kept(exchange, std::move(order), std::move(arrival.digest))
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

// With a digest: the job of a key that is not known yet. It goes on when its client is gone.
void JobsApi::submit_kept(const ExchangePtr& exchange, Dispatcher::Order order,
                          std::string digest) {
  const std::string id = context_.new_kept_id();
  if (order.job.id.empty()) order.job.id = id;
  exchange->jobs.push_back(is_async(exchange->request) ? id : order.job.id);
  exchange->job_count = 1;
  std::shared_ptr<void> key;
  if (!digest.empty()) {
    const std::string& name = *key_of(exchange->request);
    auto held = held_share(exchange->share, JobKeys::bytes_of(exchange->client, name));
    if (!held) return exchange->answer(held_too_much());
    key = keys_.take(exchange->client, name, {std::move(digest), id, std::move(held)});
  }
  order.done = [this, id](Finished finished) { results_.end(id, std::move(finished)); };
  results_.begin(id, exchange->client, std::move(key));
  auto taken = context_.dispatcher.submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken)) {
    results_.drop(id);
    return exchange->answer(busy(*full));
  }
  results_.set_ticket(id, std::get<Dispatcher::Ticket>(taken));
  answer_kept(exchange, id, Replayed::kNo);
}

void JobsApi::replay(const ExchangePtr& exchange, const JobKeys::Known& known,
                     const Arrival& arrival) {
  if (known.digest != arrival.digest) return exchange->answer(key_of_another_request());
  const std::string id = known.job;
  const bool by_id = is_async(exchange->request) || arrival.job->id.empty();
  exchange->jobs.push_back(by_id ? id : arrival.job->id);
  exchange->job_count = 1;
  exchange->share.resize(0);  // the body is not held any more
  answer_kept(exchange, id, Replayed::kYes);
}

void JobsApi::answer_kept(const ExchangePtr& exchange, const std::string& id, Replayed replayed) {
  if (!is_async(exchange->request)) return await_result(exchange, id, std::nullopt, replayed);
  Response response{.status = 202, .body = fmt::format("{{\"id\":\"{}\"}}\n", id)};
  response.headers.emplace_back("Location", "/v1/jobs/" + id);
  if (replayed == Replayed::kYes) mark_replayed(response);
  exchange->answer(std::move(response));
}

// Answers when the job has ended, or with its state after `wait` (none: however long it takes).
void JobsApi::await_result(const ExchangePtr& exchange, const std::string& id,
                           std::optional<sys::Milliseconds> wait, Replayed replayed) {
  auto then = [this, id, exchange, replayed](const AsyncResults::Job& now) {
    Response response = job_response(exchange->share, id, now);
    if (replayed == Replayed::kYes && response.status == 200) mark_replayed(response);
    exchange->answer(std::move(response));
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
  if (key_of(exchange->request))
    return exchange->answer(error_response(
        400, "idempotency", "Idempotency-Key: of batches only with async=1&durable=1"));
  if (is_async(exchange->request))
    return exchange->answer(error_response(400, "async", "async: of batches only with durable=1"));
  std::optional<sys::Milliseconds> patience;
  if (auto bad = read_patience(exchange->request, patience)) return exchange->answer(*bad);
  auto body = std::make_shared<sys::Result<BatchBody>>(BatchBody{});
  context_.readers.read_body(
      exchange, [exchange, body] { *body = BatchBody::read(exchange->request.body); },
      [this, exchange, body, patience] { start_batch(exchange, std::move(*body), patience); });
}

void JobsApi::start_batch(const ExchangePtr& exchange, sys::Result<BatchBody> body,
                          std::optional<sys::Milliseconds> patience) {
  if (!body) return exchange->answer(error_response(400, "bad_batch", body.error().text()));
  if (body->is_object) exchange->request.body = std::string();  // its elements are copied
  if (auto full = context_.dispatcher.refusal(exchange->client, patience))
    return exchange->answer(busy(*full));
  auto over = [this](const std::shared_ptr<JobStream>& batch) { batches_.erase(batch); };
  auto batch = std::make_shared<BatchStream>(exchange, context_.loop, context_.dispatcher,
                                             std::move(body).value(), context_.options.defaults,
                                             context_.jobs_of_stream(), std::move(over));
  batches_.insert(batch);
  batch->start();
}

}  // namespace service
