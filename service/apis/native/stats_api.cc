// What can be seen of the service from outside: metrics, statistics, the page, a check of itself.

#include <fmt/format.h>

#include <ctime>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "service/observe/stats.h"
#include "service/page/page.h"
#include "service/service.h"

namespace service {

namespace {

constexpr size_t kLongestName = 80;

std::string as_json(std::string_view text) {
  std::string out;
  runtime::append_json_string(runtime::utf8_head(text, kLongestName), out);
  return out;
}

// As an object: who sent it and when it ended, and failure_note().
std::string failure_of(const Finished& job) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return fmt::format(R"({{"time_ms":{},"id":{},"client":{},"api":"{}","template":{},{}}})",
                     int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000, as_json(job.id),
                     as_json(job.client), name_of(job.api), as_json(job.template_name),
                     job.failure);
}

History::Times times_of(const Finished& job) {
  const runtime::Timing& t = job.timing;
  History::Times times{};
  times[History::kLease] = t.lease;
  times[History::kFork] = t.fork;
  times[History::kConfine] = t.confine;
  times[History::kRun] = t.run;
  times[History::kCollect] = t.collect;
  times[History::kJudge] = t.judge;
  times[History::kQueue] = job.queued_us + t.admit;
  times[History::kTotal] = job.total_us;
  return times;
}

}  // namespace

void Service::note_end(const Finished& job) {
  metrics_.job_ended({.label = job.label,
                      .template_name = job.template_name,
                      .api = name_of(job.api),
                      .timing = job.ran ? &job.timing : nullptr,
                      .queued_us = job.queued_us,
                      .total_us = job.total_us,
                      .cpu_us = job.cpu_us});
  history_.job_ended(sys::monotonic_now(), job.failure.empty(), job.total_us);
  if (job.ran) history_.job_times(times_of(job));
  if (!job.failure.empty()) history_.job_failed(failure_of(job));
}

void Service::note_answer(int status) {
  constexpr int kBusy = 429;
  const sys::Nanoseconds now = sys::monotonic_now();
  metrics_.answered(status);
  if (status == kBusy) history_.job_refused(now);
  history_.standing(now, dispatcher_->queued(), dispatcher_->running());
}

Gauges Service::gauges() const {
  return {.queued = dispatcher_->queued(),
          .most_queued = dispatcher_->most_queued(),
          .running = dispatcher_->running(),
          .workers = engine_.workers(),
          .connections = server_->connections(),
          .held_bytes = held_.held(),
          .most_held_bytes = held_.most(),
          .durable_waiting = durable_ ? durable_->waiting() : 0,
          .durable_unwritten = durable_ ? durable_->unwritten() : 0,
          .engine = engine_.counts(),
          .resources = Resources::now()};
}

void Service::get_metrics(const ExchangePtr& exchange) {
  exchange->answer({.body = metrics_.text(gauges()), .type = "text/plain; version=0.0.4"});
}

void Service::get_stats(const ExchangePtr& exchange) {
  const sys::Nanoseconds now = sys::monotonic_now();
  Standing standing;
  standing.version = options_.version;
  standing.level = sandbox::name_of(engine_.standing().level);
  standing.state = ready_ ? "ready" : ending_ ? "ending" : "warming up";
  standing.gauges = gauges();
  history_.standing(now, standing.gauges.queued, standing.gauges.running);
  standing.seconds = history_.seconds(now);
  Response response{.body = stats_json(standing, metrics_, history_) + "\n"};
  response.headers.emplace_back("Cache-Control", "no-store");
  exchange->answer(std::move(response));
}

void Service::post_selfcheck(const ExchangePtr& exchange) {
  if (!facts_.selfcheck)
    return exchange->answer(error_response(501, "selfcheck", "there is no check of itself"));
  if (std::exchange(checking_, true))
    return exchange->answer(busy_response(409, "busy", "one is under way already", 5));
  auto report = std::make_shared<sys::Result<std::string>>(std::string());
  runtime::run_aside(
      loop_, [report, check = facts_.selfcheck] { *report = check(); },
      [this, exchange, report] {
        checking_ = false;
        exchange->answer(*report ? Response{.body = std::move(*report).value()}
                                 : error_response(500, "selfcheck", report->error().text()));
      });
}

// The page itself holds nothing that is secret, so nobody is asked for a token here.
bool Service::answer_page(const ExchangePtr& exchange) {
  const Request& request = exchange->request;
  const PageFile* file = options_.page ? page_file(request.path) : nullptr;
  if (!file) return false;
  if (request.method != Method::kGet && request.method != Method::kHead) {
    Response response = error_response(405, "method", "this path has: GET, HEAD");
    response.headers.emplace_back("Allow", "GET, HEAD");
    exchange->answer(std::move(response));
  } else {
    exchange->answer(page_response(*file, request));
  }
  return true;
}

}  // namespace service
