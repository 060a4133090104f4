#include "service/apis/open_r1/api.h"

#include "service/apis/open_r1/batch_run.h"
#include "service/apis/open_r1/open_r1.h"

namespace service::open_r1 {

Routes OpenR1Api::routes() {
  return {
      {Method::kPost, "/execute_batch", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { execute_batch(exchange); }},
      {Method::kGet, "/health", Scope::kOpen,
       [](const ExchangePtr& exchange, const std::string&) {
         exchange->answer({.body = "{\"status\":\"ok\"}\n"});
       },
       Probe::kYes},
  };
}

void OpenR1Api::execute_batch(const ExchangePtr& exchange) {
  auto read = read_batch(exchange->request.body);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  std::make_shared<BatchRun>(context_, exchange, std::get<Batch>(std::move(read)))->start();
}

}  // namespace service::open_r1
