#pragma once
// Judge0Api: the API of Judge0 CE over the dispatcher. Owns the submissions of its clients, which
// end with it. Loop thread only; what runs elsewhere holds what it needs.

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "service/apis/api.h"
#include "service/apis/judge0/answer.h"
#include "service/apis/judge0/languages.h"
#include "service/apis/judge0/request.h"
#include "service/apis/judge0/store.h"

namespace service::judge0 {

class Judge0Api : public Api {
 public:
  static constexpr std::string_view kName = "judge0";
  Judge0Api(const ApiContext& context, SubmissionStore::Limits limits);

  Routes routes() override;
  TokenPlaces token_places() const override { return {.header = "x-auth-token"}; }

 private:
  struct Started {
    std::string token;
    Dispatcher::Ticket ticket = 0;
  };
  using Then = std::function<void(const std::optional<Submission>&)>;  // perhaps none
  Routes info_routes();
  void with_languages(std::function<void(const std::vector<Language>&)> use);
  void create(const ExchangePtr& exchange);
  void create(const ExchangePtr& exchange, const Query& query,
              const std::vector<Language>& languages);
  void create_and_wait(const ExchangePtr& exchange, const Query& query, NewSubmission made);
  void create_batch(const ExchangePtr& exchange, const std::vector<Language>& languages);
  // A response: it is not taken.
  std::variant<Started, Response> start(Exchange& exchange, NewSubmission made, Then then);
  void withdraw(const Exchange& exchange, const Started& started);
  void end(const std::string& token, Ending ending, const Then& then);
  void forget_old();
  std::optional<Submission> find(const Exchange& exchange, const std::string& token) const;
  void show(const ExchangePtr& exchange, const std::string& token);
  void show_batch(const ExchangePtr& exchange);
  void remove(const ExchangePtr& exchange, const std::string& token);
  // Long answers are written on another thread.
  void answer(const ExchangePtr& exchange, size_t bytes, std::function<Response()> make) const;
  std::string owner_of(const Exchange& exchange) const;

  const ApiContext context_;
  SubmissionStore store_;
  bool forgets_ = false;  // forget_old() is going to be called
};

}  // namespace service::judge0
