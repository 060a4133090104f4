#pragma once
// Judge0Api: the API of Judge0 CE over the dispatcher. Owns the submissions of its clients, which
// end with it. Loop thread only; what runs elsewhere holds what it needs.

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "service/apis/api.h"
#include "service/apis/judge0/answer.h"
#include "service/apis/judge0/languages.h"
#include "service/apis/judge0/options.h"
#include "service/apis/judge0/request.h"
#include "service/apis/judge0/store.h"
#include "service/apis/judge0/teller.h"

namespace service::judge0 {

class Judge0Api : public Api {
 public:
  static constexpr std::string_view kName = kApiName;
  Judge0Api(const ApiContext& context, const Options& options);

  Routes routes() override;
  TokenPlaces token_places() const override { return {.header = "x-auth-token"}; }
  void append_metrics(std::string& into) const override { teller_.append_metrics(into); }
  bool is_busy() const override { return !teller_.is_idle(); }

 private:
  // Reads a body on another thread if that may take time. `then` is not called where nobody waits
  // any more.
  void read(const ExchangePtr& exchange, std::function<void(const Offered&)> read,
            std::function<void()> then) const;
  struct Started {
    std::string token;
    Dispatcher::Ticket ticket = 0;
  };
  using Then = std::function<void(const std::optional<Submission>&)>;  // perhaps none
  Routes routes_of(Edition edition);
  Routes info_routes(Edition edition);
  void with_languages(Edition edition, std::function<void(const std::vector<Language>&)> use);
  void create(const ExchangePtr& exchange, Edition edition);
  void create(const ExchangePtr& exchange, const Query& query,
              const std::vector<Language>& languages);
  void create_and_wait(const ExchangePtr& exchange, const Query& query, NewSubmission made);
  void create(const ExchangePtr& exchange, const Query& query,
              std::variant<ReadSubmission, Response> read);
  void create_batch(const ExchangePtr& exchange, const std::vector<Language>& languages);
  void create_batch(const ExchangePtr& exchange,
                    std::variant<std::vector<ReadSubmission>, Response> read);
  // A response: it is not taken.
  std::variant<Started, Response> start(Exchange& exchange, NewSubmission made, Then then);
  void withdraw(const Exchange& exchange, const Started& started);
  void end(const std::string& token, Ending ending, const Then& then);
  void forget_old();
  std::optional<Submission> find(const Exchange& exchange, const std::string& token) const;
  void show(const ExchangePtr& exchange, const std::string& token);
  void show_batch(const ExchangePtr& exchange);
  void remove(const ExchangePtr& exchange, const std::string& token);
  void answer(const ExchangePtr& exchange, size_t bytes, std::function<Response()> make) const;
  std::string owner_of(const Exchange& exchange) const;

  const ApiContext context_;
  std::deque<std::string> patterns_;  // of routes
  SubmissionStore store_;
  bool forgets_ = false;  // forget_old() is going to be called
  Teller teller_;
};

}  // namespace service::judge0
