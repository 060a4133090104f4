// Where Judge0's API answers: each edition of the original has a service of its own, and here the
// second lies below a prefix.

#include <string>

#include "service/apis/judge0/api.h"

namespace service::judge0 {

namespace {

constexpr std::string_view kExtraPrefix = "/extra-ce";

}  // namespace

Routes Judge0Api::routes() {
  Routes all = routes_of(Edition::kCe);
  for (Route& route : routes_of(Edition::kExtraCe)) {
    route.pattern = patterns_.emplace_back(std::string(kExtraPrefix).append(route.pattern));
    all.push_back(std::move(route));
  }
  return all;
}

Routes Judge0Api::routes_of(Edition edition) {
  Routes all = {
      {Method::kPost, "/submissions", Scope::kJobs,
       [this, edition](const ExchangePtr& exchange, const std::string&) {
         create(exchange, edition);
       }},
      {Method::kPost, "/submissions/batch", Scope::kJobs,
       [this, edition](const ExchangePtr& exchange, const std::string&) {
         with_languages(edition, [this, exchange](const std::vector<Language>& languages) {
           create_batch(exchange, languages);
         });
       }},
      {Method::kGet, "/submissions/batch", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { show_batch(exchange); }},
      {Method::kGet, "/submissions/{token}", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string& token) { show(exchange, token); }},
      {Method::kDelete, "/submissions/{token}", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string& token) { remove(exchange, token); }},
      {Method::kPost, "/authenticate", Scope::kJobs,
       [](const ExchangePtr& exchange, const std::string&) { exchange->answer({.body = "{}\n"}); }},
  };
  for (Route& route : info_routes(edition)) all.push_back(std::move(route));
  return all;
}

Routes Judge0Api::info_routes(Edition edition) {
  const auto languages = [this, edition](auto respond) {
    return [this, edition, respond](const ExchangePtr& exchange, const std::string& id) {
      with_languages(edition, [exchange, respond, id](const std::vector<Language>& list) {
        exchange->answer(respond(list, id));
      });
    };
  };
  using List = std::vector<Language>;
  return {
      {Method::kGet, "/languages", Scope::kInfo, languages([](const List& list, auto&) {
         return languages_response(list, Archived::kUntold);
       })},
      {Method::kGet, "/languages/all", Scope::kInfo, languages([](const List& list, auto&) {
         return languages_response(list, Archived::kTold);
       })},
      {Method::kGet, "/languages/{id}", Scope::kInfo,
       languages([](const List& list, auto& id) { return language_response(list, id); })},
      {Method::kGet, "/statuses", Scope::kInfo,
       [](const ExchangePtr& exchange, const std::string&) {
         exchange->answer(statuses_response());
       }},
      {Method::kGet, "/about", Scope::kInfo,
       [this, edition](const ExchangePtr& exchange, const std::string&) {
         exchange->answer(about_response(edition, context_.version));
       }},
      {Method::kGet, "/config_info", Scope::kInfo,
       [this](const ExchangePtr& exchange, const std::string&) {
         exchange->answer(config_response(context_.dispatcher.most_queued(), teller_.tells()));
       }},
  };
}

}  // namespace service::judge0
