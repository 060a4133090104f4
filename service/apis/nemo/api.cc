#include "service/apis/nemo/api.h"

#include "service/apis/nemo/nemo.h"

namespace service::nemo {

Routes NemoApi::routes() {
  return {
      {Method::kPost, "/execute", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { execute(exchange); }},
      {Method::kGet, "/health", Scope::kOpen,
       [](const ExchangePtr& exchange, const std::string&) {
         exchange->answer({.body = "{\"status\":\"healthy\"}\n"});
       },
       Probe::kYes},
  };
}

void NemoApi::execute(const ExchangePtr& exchange) {
  auto read = read_execute(exchange->request, context_.defaults);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  auto& execution = std::get<Execution>(read);
  auto answer = [wish = execution.wish](const runtime::JobResult& result) {
    return execute_response(result, wish);
  };
  context_.jobs.run(exchange, std::move(execution.job), {answer, trouble, kName});
}

}  // namespace service::nemo
