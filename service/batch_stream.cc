#include "service/batch_stream.h"

#include <utility>

namespace service {

namespace {

constexpr size_t kIdsLogged = 8;

}  // namespace

BatchStream::BatchStream(ExchangePtr exchange, Desk& desk, BatchBody body,
                         runtime::JobDefaults defaults, size_t at_once, Over over)
    : exchange_(std::move(exchange)),
      desk_(desk),
      reader_(std::move(body), exchange_->request.body, std::move(defaults)),
      at_once_(at_once),
      over_(std::move(over)) {}

void BatchStream::start() {
  exchange_->when_gone([self = shared_from_this()] { self->abandon(); });
  exchange_->when_room([self = shared_from_this()] { self->feed(); });
  exchange_->begin({.type = "application/x-ndjson"});
  feed();
}

void BatchStream::feed() {
  if (feeding_ || abandoned_) return;
  const auto self = shared_from_this();
  feeding_ = true;
  while (under_way_.size() < at_once_ && desk_.has_room() && exchange_->has_room()) {
    std::optional<BatchReader::Item> item = reader_.next();
    if (!item) break;
    note(item->id);
    if (auto* job = std::get_if<runtime::Job>(&item->content)) {
      submit(std::move(*job));
    } else {
      std::string& result = std::get<std::string>(item->content);
      add_service_object(exchange_->trace, result);
      exchange_->write(result + "\n");
    }
  }
  feeding_ = false;
  end_if_done();
}

void BatchStream::submit(runtime::Job job) {
  Desk::Order order;
  order.client = exchange_->client;
  order.trace = exchange_->trace;
  // The ticket is known when the result comes: that is never before submit() has returned.
  auto ticket = std::make_shared<Desk::Ticket>(0);
  order.done = [self = shared_from_this(), ticket](Finished finished) {
    self->under_way_.erase(*ticket);
    self->exchange_->write(std::move(finished.json) + "\n");
    self->feed();
  };
  order.job = std::move(job);
  const auto taken = desk_.submit(std::move(order));
  *ticket = std::get<Desk::Ticket>(taken);  // has_room() was asked, and no patience is given
  under_way_.insert(*ticket);
}

void BatchStream::note(const std::string& id) {
  if (exchange_->job_count++ < kIdsLogged) exchange_->jobs.push_back(id);
}

void BatchStream::abandon() {
  abandoned_ = true;
  const std::unordered_set<Desk::Ticket> tickets = under_way_;
  for (Desk::Ticket ticket : tickets) desk_.withdraw(ticket);
  if (auto over = std::exchange(over_, nullptr)) over(shared_from_this());
}

void BatchStream::end_if_done() {
  if (!under_way_.empty() || !reader_.at_end() || abandoned_ || !exchange_->open()) return;
  exchange_->end();
  if (auto over = std::exchange(over_, nullptr)) over(shared_from_this());
}

}  // namespace service
