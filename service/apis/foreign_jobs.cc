#include "service/apis/foreign_jobs.h"

#include <memory>
#include <utility>
#include <variant>

namespace service {

namespace {

constexpr size_t kTranslated = 3;
constexpr size_t kLong = size_t{256} << 10;  // is translated on another thread

}  // namespace

void ForeignJobs::run(const ExchangePtr& exchange, runtime::Job job, ForeignWords words) {
  if (ending_) return exchange->answer(words.busy("the service is ending"));
  Dispatcher::Order order;
  order.job = std::move(job);
  if (order.job.id.empty()) order.job.id = new_job_id();
  order.client = exchange->client;
  order.api = words.api;
  order.trace = exchange->trace;
  order.patience = kPatience;
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
  auto taken = dispatcher_.submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken))
    return exchange->answer(words.busy(full->why));
  exchange->when_gone(
      [this, ticket = std::get<Dispatcher::Ticket>(taken)] { dispatcher_.withdraw(ticket); });
}

// Taking our words apart and putting theirs together takes as much again, twice.
void ForeignJobs::translate(const ExchangePtr& exchange, const ForeignWords& words,
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
  if (is_long) return readers_.read(exchange->client, work, then);
  work();
  then();
}

}  // namespace service
