#include "service/apis/nemo/api.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "service/apis/nemo/nemo.h"
#include "service/apis/results.h"

namespace service::nemo {

using nlohmann::ordered_json;

Routes NemoApi::routes() {
  return {
      {Method::kPost, "/execute", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { execute(exchange); }},
      {Method::kGet, "/sessions", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { list(exchange); }},
      {Method::kDelete, "/sessions/{id}", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string& shell) { end(exchange, shell); }},
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
  if (!execution.shell.empty()) {
    const std::string shell = execution.shell;
    exchange->request.body = std::string();  // the cell has it now
    return shells_.execute(
        ForeignSessions::Caller::of(exchange, kName), shell, std::move(execution),
        [exchange](Response response) { exchange->answer(std::move(response)); });
  }
  auto answer = [wish = execution.wish](const runtime::JobResult& result) {
    return execute_response(result, wish);
  };
  context_.jobs.run(exchange, std::move(execution.job), {answer, trouble, kName});
}

void NemoApi::list(const ExchangePtr& exchange) const {
  constexpr double kSecond = 1000;
  ordered_json sessions = ordered_json::object();
  for (const Shells::Listed& each : shells_.list(exchange->client)) {
    sessions[each.name] = {{"backend", "ipython"},
                           {"created", static_cast<double>(each.created.count()) / kSecond},
                           {"last_used", static_cast<double>(each.used.count()) / kSecond},
                           {"alive", true}};
  }
  exchange->answer({.body = line_of({{"sessions", sessions}, {"backend", "ipython"}})});
}

void NemoApi::end(const ExchangePtr& exchange, const std::string& shell) {
  const bool is_over = shells_.end(exchange->client, shell);
  const std::string words =
      fmt::format("IPython session {} {}", shell, is_over ? "deleted successfully" : "not found");
  exchange->answer(
      {.status = is_over ? 200 : 404, .body = line_of({{is_over ? "message" : "error", words}})});
}

}  // namespace service::nemo
