#include "service/apis/dify/api.h"

#include "service/apis/dify/dify.h"

namespace service::dify {

Routes DifyApi::routes() {
  return {
      {Method::kPost, "/v1/sandbox/run", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { run(exchange); }},
      {Method::kGet, "/v1/sandbox/dependencies", Scope::kInfo,
       [](const ExchangePtr& exchange, const std::string&) {
         exchange->answer(dependencies_response());
       }},
      {Method::kGet, "/health", Scope::kOpen,
       [](const ExchangePtr& exchange, const std::string&) {
         exchange->answer({.body = "\"ok\""});
       },
       Probe::kYes},
  };
}

void DifyApi::run(const ExchangePtr& exchange) {
  auto read = read_run(exchange->request.body, context_.defaults);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  context_.jobs.run(exchange, std::get<runtime::Job>(std::move(read)),
                    {run_response, [](std::string_view) { return overloaded(); }, kName});
}

}  // namespace service::dify
