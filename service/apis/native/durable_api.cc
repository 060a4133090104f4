#include "service/apis/native/durable_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "service/admission/refusals.h"
#include "service/apis/native/sessions/session_keeper.h"
#include "service/durable/verdict_stream.h"

namespace service {

namespace {

constexpr size_t kLongestKey = 255;
constexpr unsigned kComeBack = 5;  // seconds, to a disk that is full or fails
// With the dispatcher at once, for each worker: enough that none is idle while results travel.
constexpr size_t kJobsPerWorker = 4;

Response no_batch() { return error_response(404, "no_batch", "there is no such batch"); }
Response no_job() { return error_response(404, "no_job", "there is no such job"); }

// 0 or 1, or absent; nothing for anything else.
std::optional<bool> flag(const Request& request, std::string_view name) {
  const std::string* given = request.query_value(name);
  if (!given || *given == "0") return false;
  if (*given == "1") return true;
  return std::nullopt;
}

std::optional<sys::Milliseconds> read_wait(const Request& request) {
  const std::string* wait = request.query_value("wait");
  const std::optional<double> seconds = wait ? read_seconds(*wait, kLongestWait) : 0.0;
  if (!seconds) return std::nullopt;
  return sys::Milliseconds(static_cast<int64_t>(*seconds * 1000));
}

Response bad_wait() { return error_response(400, "wait", "wait: expected seconds, 0 to 300"); }

std::optional<size_t> read_after(const Request& request) {
  const std::string* given = request.query_value("after");
  if (!given) return size_t{0};
  size_t after = 0;
  const char* end = given->data() + given->size();
  const auto read = std::from_chars(given->data(), end, after);
  if (given->empty() || read.ptr != end || read.ec != std::errc()) return std::nullopt;
  return std::min(after, size_t{1} << 40);
}

Response state_response(const std::string& id, DurableJobs::State state) {
  const char* word = state == DurableJobs::State::kRunning ? "running" : "queued";
  return {.status = 202, .body = fmt::format("{{\"id\":\"{}\",\"state\":\"{}\"}}\n", id, word)};
}

// As that of an async job that is not durable.
Response verdict_response(const VerdictEntry& verdict) {
  if (verdict.expired)
    return busy_response(429, "patience", "the job could not be started in the time given", 1);
  return {.body = verdict.json + "\n"};
}

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= kLongestKey &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

Response receipt_response(const Receipt& receipt, std::string_view place) {
  switch (receipt.kind) {
    case Receipt::Kind::kOtherRequest:
      return key_of_another_request();
    case Receipt::Kind::kTooMany:
      return busy_response(429, "busy", "as many durable jobs wait as may (--durable-queue)",
                           kComeBack);
    case Receipt::Kind::kTooLarge:
      return busy_response(507, "ledger_full",
                           "the durable jobs that wait fill what they may (--durable-size)",
                           kComeBack);
    case Receipt::Kind::kNew:
    case Receipt::Kind::kKnown:
      break;
  }
  const bool batch = place == "batches";
  Response response{.status = 202};
  response.body = batch ? fmt::format("{{\"id\":\"{}\",\"jobs\":{}}}\n", receipt.id, receipt.jobs)
                        : fmt::format("{{\"id\":\"{}\"}}\n", receipt.id);
  response.headers.emplace_back("Location", fmt::format("/v1/{}/{}", place, receipt.id));
  if (receipt.kind == Receipt::Kind::kKnown) mark_replayed(response);
  return response;
}

}  // namespace

sys::Result<void> DurableApi::open() {
  if (!context_.options.ledger) return {};
  auto left = context_.options.ledger->waiting();
  if (!left) return std::move(left).error();
  auto sessions = context_.options.ledger->sessions();
  if (!sessions) return std::move(sessions).error();
  DurableJobs::Options options;
  options.at_once = kJobsPerWorker * std::max(1u, context_.engine.workers());
  options.knows_template = context_.facts.knows_template;
  options.ended = [&observer = context_.observer](const Finished& job) { observer.job_ended(job); };
  options.rested = context_.rested;
  jobs_ = std::make_unique<DurableJobs>(context_.loop, context_.deadlines, context_.dispatcher,
                                        context_.options.ledger, options);
  jobs_->take_over(std::move(left).value());
  take_over(*sessions);
  return {};
}

void DurableApi::take_over(const std::vector<SessionRow>& sessions) {
  if (!context_.engine.keeps_nodes()) return;
  const SessionJournal::Under under{context_.options.defaults_text,
                                    context_.options.defaults.job.template_name};
  const auto idle = std::chrono::duration_cast<sys::Milliseconds>(SessionBook::Plan{}.idle);
  context_.keeper.open(std::make_unique<SessionJournal>(jobs_->writer(), under), sessions,
                       sys::Milliseconds(system_now_ms()) - idle);
}

void DurableApi::start() {
  if (jobs_) jobs_->start();
}

void DurableApi::feed() {
  if (jobs_) jobs_->feed();
}

void DurableApi::begin_end() {
  if (jobs_) jobs_->begin_end();
}

std::optional<bool> DurableApi::is_wanted(Exchange& exchange) const {
  const std::optional<bool> async = flag(exchange.request, "async");
  const std::optional<bool> durable = flag(exchange.request, "durable");
  const std::string* key = exchange.request.header("idempotency-key");
  const auto refuse = [&exchange](int status, const char* code, const char* why) {
    exchange.answer(error_response(status, code, why));
    return std::nullopt;
  };
  if (!async) return refuse(400, "async", "async: expected 0 or 1");
  if (!durable) return refuse(400, "durable", "durable: expected 0 or 1");
  if (*durable && !*async) return refuse(400, "durable", "durable: only with async=1");
  if (*durable && !jobs_)
    return refuse(501, "durable", "durable: the service has no database for it (--durable FILE)");
  if (key && !is_key(*key))
    return refuse(400, "idempotency", "Idempotency-Key: expected 1 to 255 printable characters");
  return *durable;
}

DurableRequest DurableApi::request_of(const Exchange& exchange, std::string id) const {
  DurableRequest arrival;
  arrival.id = std::move(id);
  arrival.client = exchange.client;
  if (const std::string* key = exchange.request.header("idempotency-key")) arrival.key = *key;
  return arrival;
}

void DurableApi::keep(const ExchangePtr& exchange, DurableRequest arrival, std::string_view place) {
  jobs_->accept(std::move(arrival), [exchange, place](sys::Result<Receipt> receipt) {
    if (!receipt) return exchange->answer(not_written(receipt.error()));
    if (!receipt->id.empty()) exchange->jobs.push_back(receipt->id);
    exchange->job_count = receipt->jobs;
    exchange->answer(receipt_response(*receipt, place));
  });
}

// The loop does not look at the job any more: digests take their time.
void DurableApi::keep_job(const ExchangePtr& exchange, const runtime::Job& job,
                          std::optional<sys::Milliseconds> patience) {
  auto arrival = std::make_shared<DurableRequest>(request_of(*exchange, context_.new_kept_id()));
  arrival->defaults = context_.options.defaults_text;
  arrival->template_name = context_.options.defaults.job.template_name;
  arrival->jobs.push_back({.name = job.id.empty() ? arrival->id : job.id,
                           .priority = job.priority,
                           .patience = patience,
                           .body = "",
                           .verdict = ""});
  runtime::run_aside(
      context_.loop,
      [exchange, arrival] { put_job(std::exchange(exchange->request.body, {}), *arrival); },
      [this, exchange, arrival] {
        if (exchange->open()) keep(exchange, std::move(*arrival), "jobs");
      });
}

void DurableApi::keep_batch(const ExchangePtr& exchange) {
  if (exchange->request.header("x-zygo-patience"))
    return exchange->answer(error_response(
        400, "patience", "X-Zygo-Patience: not for durable batches; give jobs a deadline_ms"));
  auto arrival = std::make_shared<DurableRequest>(request_of(*exchange, context_.new_kept_id('b')));
  auto outcome = std::make_shared<sys::Result<void>>();
  const ServiceDefaults under{context_.options.defaults, context_.options.defaults_text};
  auto work = [exchange, arrival, outcome, under, knows = context_.facts.knows_template] {
    const std::string body = std::exchange(exchange->request.body, {});
    *outcome = put_batch(body, under, knows, *arrival);
  };
  runtime::run_aside(context_.loop, std::move(work), [this, exchange, arrival, outcome] {
    if (!exchange->open()) return;
    if (!*outcome)
      return exchange->answer(error_response(400, "bad_batch", outcome->error().text()));
    keep(exchange, std::move(*arrival), "batches");
  });
}

void DurableApi::find(const ExchangePtr& exchange, const std::string& id, Response missing,
                      std::function<void(const Progress&)> then) {
  if (!jobs_) return exchange->answer(std::move(missing));
  jobs_->find(id, exchange->client,
              [exchange, id, missing = std::move(missing),
               then = std::move(then)](sys::Result<std::optional<Progress>> found) {
                if (!found) return exchange->answer(not_written(found.error()));
                if (!*found) return exchange->answer(missing);
                exchange->jobs.push_back(id);
                then(**found);
              });
}

void DurableApi::answer_verdict(const ExchangePtr& exchange, int64_t request) {
  jobs_->read_verdicts(request, 0, 1, [exchange](sys::Result<std::vector<VerdictEntry>> found) {
    if (!found) return exchange->answer(not_written(found.error()));
    if (found->empty()) return exchange->answer(no_job());  // forgotten meanwhile
    exchange->answer(verdict_response(found->front()));
  });
}

// Answers when the request has its verdict, or with its state after `wait` (none: however long it
// takes), or when the service ends before.
void DurableApi::await_verdict(const ExchangePtr& exchange, const std::string& id, int64_t request,
                               std::optional<sys::Milliseconds> wait) {
  if (!exchange->open()) return;
  struct Wait {
    DurableJobs::WatcherId watcher = 0;
    Deadlines::Id until = 0;
  };
  auto held = std::make_shared<Wait>();
  auto stop = [this, held, request] {
    context_.deadlines.forget(held->until);
    jobs_->unwatch(request, held->watcher);
  };
  auto not_yet = [this, stop, exchange, id, request] {
    stop();
    exchange->answer(state_response(id, jobs_->state_of(request)));
  };
  exchange->when_gone(stop);
  held->watcher = jobs_->watch(request, [stop, not_yet, exchange](const VerdictEntry* verdict) {
    if (!verdict) return not_yet();
    stop();
    exchange->answer(verdict_response(*verdict));
  });
  if (wait) held->until = context_.deadlines.at(sys::monotonic_now() + *wait, not_yet);
}

void DurableApi::get_job(const ExchangePtr& exchange, const std::string& id) {
  const std::optional<sys::Milliseconds> wait = read_wait(exchange->request);
  if (!wait) return exchange->answer(bad_wait());
  if (!id.starts_with("j-")) return exchange->answer(no_job());
  find(exchange, id, no_job(), [this, exchange, id, wait](const Progress& now) {
    if (now.left == 0) return answer_verdict(exchange, now.request);
    const DurableJobs::State state = jobs_->state_of(now.request);
    const bool stays = jobs_->ending() && state == DurableJobs::State::kQueued;
    if (wait->count() == 0 || stays) return exchange->answer(state_response(id, state));
    await_verdict(exchange, id, now.request, wait);
  });
}

void DurableApi::delete_job(const ExchangePtr& exchange, const std::string& id) {
  if (!id.starts_with("j-")) return exchange->answer(no_job());
  find(exchange, id, no_job(), [this, exchange, id](const Progress& now) {
    if (now.left == 0) return answer_verdict(exchange, now.request);
    await_verdict(exchange, id, now.request, std::nullopt);
    jobs_->withdraw(now.request);
  });
}

void DurableApi::get_batch(const ExchangePtr& exchange, const std::string& id) {
  const std::optional<sys::Milliseconds> wait = read_wait(exchange->request);
  if (!wait) return exchange->answer(bad_wait());
  const std::optional<size_t> after = read_after(exchange->request);
  if (!after)
    return exchange->answer(error_response(400, "after", "after: expected a number of results"));
  if (!id.starts_with("b-")) return exchange->answer(no_batch());
  find(exchange, id, no_batch(), [this, exchange, wait, after](const Progress& now) {
    std::make_shared<VerdictStream>(exchange, *jobs_, context_.deadlines, now, *after)
        ->start(*wait);
  });
}

// At once: the verdicts follow when they are written.
void DurableApi::delete_batch(const ExchangePtr& exchange, const std::string& id) {
  if (!id.starts_with("b-")) return exchange->answer(no_batch());
  find(exchange, id, no_batch(), [this, exchange, id](const Progress& now) {
    jobs_->withdraw(now.request);
    exchange->answer({.status = 202,
                      .body = fmt::format("{{\"id\":\"{}\",\"jobs\":{},\"left\":{}}}\n", id,
                                          now.jobs, now.left)});
  });
}

}  // namespace service
