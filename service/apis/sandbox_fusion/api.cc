#include "service/apis/sandbox_fusion/api.h"

#include "service/apis/sandbox_fusion/jupyter.h"
#include "service/apis/sandbox_fusion/sandbox_fusion.h"
#include "service/apis/sandbox_fusion/submit.h"

namespace service::sandbox_fusion {

Routes SandboxFusionApi::routes() {
  return {
      {Method::kPost, "/run_code", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { run_code(exchange); }},
      {Method::kGet, "/v1/ping", Scope::kOpen,
       [](const ExchangePtr& exchange, const std::string&) {
         exchange->answer({.body = "\"pong\""});
       },
       Probe::kYes},
      {Method::kPost, "/run_jupyter", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { run_jupyter(exchange); }},
      {Method::kPost, "/submit", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { submit(exchange); }},
  };
}

void SandboxFusionApi::run_code(const ExchangePtr& exchange) {
  auto read = read_run_code(exchange->request.body, context_.defaults);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  context_.jobs.run(exchange, std::get<runtime::Job>(std::move(read)),
                    {run_code_response, try_again, kName});
}

void SandboxFusionApi::run_jupyter(const ExchangePtr& exchange) {
  auto read = read_run_jupyter(exchange->request.body, context_.defaults);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  context_.jobs.run(exchange, std::get<runtime::Job>(std::move(read)),
                    {run_jupyter_response, try_again, kName});
}

void SandboxFusionApi::submit(const ExchangePtr& exchange) {
  auto read = read_submit(exchange->request.body, context_.defaults);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  auto& submission = std::get<Submission>(read);
  auto answer = [cases = submission.cases](const runtime::JobResult& result) {
    return submit_response(result, *cases);
  };
  context_.jobs.run(exchange, std::move(submission.job), {answer, try_again, kName});
}

}  // namespace service::sandbox_fusion
