// The APIs of others: each request is a job of ours, answered in their words.

#include <algorithm>

#include "service/apis/dify/dify.h"
#include "service/apis/piston/connect.h"
#include "service/apis/sandbox_fusion/jupyter.h"
#include "service/apis/sandbox_fusion/sandbox_fusion.h"
#include "service/apis/sandbox_fusion/submit.h"
#include "service/service.h"

namespace service {

namespace {

// Their clients wait for the limits they have sent and some ten seconds more; a job that has not
// begun by then would be run for nobody.
constexpr sys::Milliseconds kForeignPatience{10'000};

constexpr size_t kTranslated = 3;
constexpr size_t kLong = size_t{256} << 10;  // is translated on another thread

bool begins_jobs_of_go_judge(Endpoint endpoint) {
  return endpoint == Endpoint::kGoJudgeRun || endpoint == Endpoint::kGoJudgeSocket ||
         endpoint == Endpoint::kGoJudgeStream;
}

}  // namespace

void Service::submit_foreign(const ExchangePtr& exchange, runtime::Job job, ForeignWords words) {
  if (ending_) return exchange->answer(words.busy("the service is ending"));
  Dispatcher::Order order;
  order.job = std::move(job);
  if (order.job.id.empty()) order.job.id = new_id();
  order.client = exchange->client;
  order.api = words.api;
  order.trace = exchange->trace;
  order.patience = kForeignPatience;
  exchange->request.body = std::string();  // the job has it now
  auto like = std::make_shared<Allowance::Share>(exchange->share.another());
  order.share = std::move(exchange->share);
  exchange->jobs.push_back(order.job.id);
  exchange->job_count = 1;
  order.done = [this, exchange, words, like](Finished finished) {
    if (finished.expired)
      return exchange->answer(words.busy("the job could not be started in time"));
    translate(exchange, words, *like, std::move(finished));
  };
  auto taken = dispatcher_->submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken))
    return exchange->answer(words.busy(full->why));
  exchange->when_gone(
      [this, ticket = std::get<Dispatcher::Ticket>(taken)] { dispatcher_->withdraw(ticket); });
}

// Taking our words apart and putting theirs together takes as much again, twice.
void Service::translate(const ExchangePtr& exchange, const ForeignWords& words,
                        const Allowance::Share& like, Finished finished) {
  auto held = held_share(like, kTranslated * finished.json.size());
  if (!held) return exchange->answer(words.busy("too many bytes are held for this client already"));
  const bool is_long = finished.json.size() > kLong;
  auto response = std::make_shared<Response>();
  auto told = std::make_shared<Finished>(std::move(finished));
  auto work = [words, response, told] { *response = words.answer(told->json); };
  auto then = [exchange, response, held] {
    response->held = held;
    exchange->answer(std::move(*response));
  };
  if (is_long) return readers_->read(exchange->client, work, then);
  work();
  then();
}

void Service::perform_foreign(const ExchangePtr& exchange, Endpoint endpoint,
                              const std::string& parameter) {
  switch (endpoint) {
    case Endpoint::kRunCode:
      return run_code(exchange);
    case Endpoint::kRunCodePing:
      return exchange->answer({.body = "\"pong\""});
    case Endpoint::kRunJupyter:
      return run_jupyter(exchange);
    case Endpoint::kSubmitCompletion:
      return submit_completion(exchange);
    case Endpoint::kPistonRuntimes:
      return piston_runtimes(exchange);
    case Endpoint::kPistonExecute:
      return piston_execute(exchange);
    case Endpoint::kPistonConnect:
      return piston_connect(exchange);
    case Endpoint::kPistonPackages:
      return piston_packages(exchange);
    case Endpoint::kPistonAddPackage:
      return piston_change_packages(exchange, piston::Change::kAdd);
    case Endpoint::kPistonRemovePackage:
      return piston_change_packages(exchange, piston::Change::kRemove);
    case Endpoint::kDifyRun:
      return dify_run(exchange);
    case Endpoint::kDifyDependencies:
      return exchange->answer(dify::dependencies_response());
    case Endpoint::kDifyHealth:
      return exchange->answer({.body = "\"ok\""});
    default:
      if (begins_jobs_of_go_judge(endpoint) && ending_)
        return exchange->answer(go_judge::text_response(500, "worker is shutting down"));
      if (endpoint == Endpoint::kGoJudgeStream)
        return open_session(exchange, go_judge_->stream(*exchange, options_.http.limits.head), "",
                            std::nullopt);
      // Whoever has shown a token is no page that a browser lets loose on this host.
      if (endpoint == Endpoint::kGoJudgeSocket && exchange->peer.is_unix &&
          !is_welcome(exchange->request))
        return exchange->answer(error_response(403, "origin", "web pages may not speak to this"));
      return go_judge_->perform(exchange, endpoint, parameter);
  }
}

void Service::run_code(const ExchangePtr& exchange) {
  auto read = sandbox_fusion::read_run_code(exchange->request.body, options_.defaults);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  submit_foreign(
      exchange, std::get<runtime::Job>(std::move(read)),
      {sandbox_fusion::run_code_response, sandbox_fusion::try_again, Api::kSandboxFusion});
}

void Service::run_jupyter(const ExchangePtr& exchange) {
  auto read = sandbox_fusion::read_run_jupyter(exchange->request.body, options_.defaults);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  submit_foreign(
      exchange, std::get<runtime::Job>(std::move(read)),
      {sandbox_fusion::run_jupyter_response, sandbox_fusion::try_again, Api::kSandboxFusion});
}

void Service::submit_completion(const ExchangePtr& exchange) {
  auto read = sandbox_fusion::read_submit(exchange->request.body, options_.defaults);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  auto& submission = std::get<sandbox_fusion::Submission>(read);
  auto answer = [cases = submission.cases](std::string_view result) {
    return sandbox_fusion::submit_response(result, *cases);
  };
  submit_foreign(exchange, std::move(submission.job),
                 {answer, sandbox_fusion::try_again, Api::kSandboxFusion});
}

std::vector<piston::Language> Service::piston_languages(const std::string& runtimes) const {
  return piston::languages_of(runtimes, options_.piston_pins);
}

void Service::piston_runtimes(const ExchangePtr& exchange) {
  with_runtimes([this, exchange](const std::string& runtimes) {
    exchange->answer(piston::runtimes_response(piston_languages(runtimes)));
  });
}

void Service::piston_packages(const ExchangePtr& exchange) {
  with_runtimes([this, exchange](const std::string& runtimes) {
    exchange->answer(piston::packages_response(piston_languages(runtimes)));
  });
}

void Service::piston_change_packages(const ExchangePtr& exchange, piston::Change change) {
  with_runtimes([this, exchange, change](const std::string& runtimes) {
    exchange->answer(
        piston::change_packages(exchange->request, piston_languages(runtimes), change));
  });
}

void Service::piston_execute(const ExchangePtr& exchange) {
  with_runtimes([this, exchange](const std::string& runtimes) {
    auto read = piston::read_execute(exchange->request, piston_languages(runtimes), options_.piston,
                                     options_.defaults);
    if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
    auto& execution = std::get<piston::Execution>(read);
    auto answer = [language = execution.language](std::string_view result) {
      return piston::execute_response(result, language);
    };
    auto busy = [](std::string_view why) { return piston::message_response(503, why); };
    submit_foreign(exchange, std::move(execution.job), {answer, busy, Api::kPiston});
  });
}

void Service::piston_connect(const ExchangePtr& exchange) {
  with_runtimes([this, exchange](const std::string& runtimes) {
    auto protocol = std::make_unique<piston::ConnectProtocol>(piston_languages(runtimes),
                                                              options_.piston, options_.defaults);
    open_session(exchange, std::move(protocol), "", kForeignPatience);
  });
}

void Service::dify_run(const ExchangePtr& exchange) {
  auto read = dify::read_run(exchange->request.body, options_.defaults);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  submit_foreign(
      exchange, std::get<runtime::Job>(std::move(read)),
      {dify::run_response, [](std::string_view) { return dify::overloaded(); }, Api::kDify});
}

}  // namespace service
