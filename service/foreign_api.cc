// The APIs of others: each request is a job of ours, answered in their words.

#include <algorithm>

#include "service/foreign/dify.h"
#include "service/foreign/sandbox_fusion.h"
#include "service/service.h"

namespace service {

namespace {

// Their clients wait for the limits they have sent and some ten seconds more; a job that has not
// begun by then would be run for nobody.
constexpr sys::Milliseconds kForeignPatience{10'000};

}  // namespace

void Service::submit_foreign(const ExchangePtr& exchange, runtime::Job job, ForeignWords words) {
  if (ending_) return exchange->answer(words.busy("the service is ending"));
  Desk::Order order;
  order.job = std::move(job);
  if (order.job.id.empty()) order.job.id = new_id();
  order.client = exchange->client;
  order.patience = kForeignPatience;
  exchange->request.body = std::string();  // the job has it now
  order.share = std::move(exchange->share);
  exchange->jobs.push_back(order.job.id);
  exchange->job_count = 1;
  order.done = [exchange, words](Finished finished) {
    exchange->answer(finished.expired ? words.busy("the job could not be started in time")
                                      : words.answer(finished.json));
  };
  auto taken = desk_->submit(std::move(order));
  if (const auto* full = std::get_if<Desk::Busy>(&taken))
    return exchange->answer(words.busy(full->why));
  exchange->when_gone([this, ticket = std::get<Desk::Ticket>(taken)] { desk_->withdraw(ticket); });
}

void Service::perform_foreign(const ExchangePtr& exchange, Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::kRunCode:
      return run_code(exchange);
    case Endpoint::kRunCodePing:
      return exchange->answer({.body = "\"pong\""});
    case Endpoint::kPistonRuntimes:
      return piston_runtimes(exchange);
    case Endpoint::kPistonExecute:
      return piston_execute(exchange);
    case Endpoint::kDifyRun:
      return dify_run(exchange);
    case Endpoint::kDifyDependencies:
      return exchange->answer(dify::dependencies_response());
    case Endpoint::kDifyHealth:
      return exchange->answer({.body = "\"ok\""});
    default:
      VERIFY(false);
  }
}

void Service::run_code(const ExchangePtr& exchange) {
  auto read = sandbox_fusion::read_run_code(exchange->request.body, options_.defaults);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  submit_foreign(exchange, std::get<runtime::Job>(std::move(read)),
                 {sandbox_fusion::run_code_response, sandbox_fusion::try_again});
}

void Service::piston_runtimes(const ExchangePtr& exchange) {
  with_runtimes([exchange](const std::string& runtimes) {
    exchange->answer(piston::runtimes_response(piston::languages_of(runtimes)));
  });
}

void Service::piston_execute(const ExchangePtr& exchange) {
  with_runtimes([this, exchange](const std::string& runtimes) {
    auto read = piston::read_execute(exchange->request, piston::languages_of(runtimes),
                                     options_.piston, options_.defaults);
    if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
    auto& execution = std::get<piston::Execution>(read);
    auto answer = [language = execution.language](std::string_view result) {
      return piston::execute_response(result, language);
    };
    auto busy = [](std::string_view why) { return piston::message_response(503, why); };
    submit_foreign(exchange, std::move(execution.job), {answer, busy});
  });
}

void Service::dify_run(const ExchangePtr& exchange) {
  auto read = dify::read_run(exchange->request.body, options_.defaults);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  submit_foreign(exchange, std::get<runtime::Job>(std::move(read)),
                 {dify::run_response, [](std::string_view) { return dify::overloaded(); }});
}

}  // namespace service
