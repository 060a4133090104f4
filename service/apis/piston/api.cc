#include "service/apis/piston/api.h"

#include "service/apis/piston/connect.h"

namespace service::piston {

Routes PistonApi::routes() {
  return {
      {Method::kGet, "/api/v2/runtimes", Scope::kInfo,
       [this](const ExchangePtr& exchange, const std::string&) { list_runtimes(exchange); }},
      {Method::kPost, "/api/v2/execute", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { execute(exchange); }},
      {Method::kGet, "/api/v2/connect", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { connect(exchange); }},
      {Method::kGet, "/api/v2/packages", Scope::kInfo,
       [this](const ExchangePtr& exchange, const std::string&) { list_packages(exchange); }},
      {Method::kPost, "/api/v2/packages", Scope::kInfo,
       [this](const ExchangePtr& exchange, const std::string&) {
         change_packages(exchange, Change::kAdd);
       }},
      {Method::kDelete, "/api/v2/packages", Scope::kInfo,
       [this](const ExchangePtr& exchange, const std::string&) {
         change_packages(exchange, Change::kRemove);
       }},
  };
}

std::optional<Response> PistonApi::answer_without_route(const Request& request) const {
  if (!request.path.starts_with("/api/v2/")) return std::nullopt;
  return message_response(404, "Not Found");
}

void PistonApi::with_languages(std::function<void(std::vector<Language>)> use) {
  context_.runtimes.get([this, use = std::move(use)](const InstalledRuntimes::List& runtimes) {
    use(languages_of(runtimes.records, options_.pins));
  });
}

void PistonApi::list_runtimes(const ExchangePtr& exchange) {
  with_languages([exchange](const std::vector<Language>& languages) {
    exchange->answer(runtimes_response(languages));
  });
}

void PistonApi::list_packages(const ExchangePtr& exchange) {
  with_languages([exchange](const std::vector<Language>& languages) {
    exchange->answer(packages_response(languages));
  });
}

void PistonApi::change_packages(const ExchangePtr& exchange, Change change) {
  with_languages([exchange, change](const std::vector<Language>& languages) {
    exchange->answer(piston::change_packages(exchange->request, languages, change));
  });
}

void PistonApi::execute(const ExchangePtr& exchange) {
  with_languages(
      [this, exchange](const std::vector<Language>& languages) { execute(exchange, languages); });
}

void PistonApi::execute(const ExchangePtr& exchange, const std::vector<Language>& languages) {
  auto read = read_execute(exchange->request, languages, options_.limits, context_.defaults);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  auto& execution = std::get<Execution>(read);
  auto answer = [language = execution.language](const runtime::JobResult& result) {
    return execute_response(result, language);
  };
  auto busy = [](std::string_view why) { return message_response(503, why); };
  context_.jobs.run(exchange, std::move(execution.job), {answer, busy, kName});
}

void PistonApi::connect(const ExchangePtr& exchange) {
  with_languages([this, exchange](std::vector<Language> languages) {
    auto protocol =
        std::make_unique<ConnectProtocol>(std::move(languages), options_.limits, context_.defaults);
    context_.sessions.open(exchange, std::move(protocol), "", ForeignJobs::kPatience);
  });
}

}  // namespace service::piston
