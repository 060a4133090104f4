#include "service/apis/foreign_jobs.h"

#include <utility>
#include <variant>

namespace service {

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
  order.share = std::move(exchange->share);
  exchange->jobs.push_back(order.job.id);
  exchange->job_count = 1;
  order.words = words.answer;
  order.done = [exchange, busy = words.busy](const Finished& finished) {
    exchange->answer(finished.expired ? busy("the job could not be started in time")
                                      : std::move(*finished.response));
  };
  auto taken = dispatcher_.submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken))
    return exchange->answer(words.busy(full->why));
  exchange->when_gone(
      [this, ticket = std::get<Dispatcher::Ticket>(taken)] { dispatcher_.withdraw(ticket); });
}

}  // namespace service
