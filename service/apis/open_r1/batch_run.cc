#include "service/apis/open_r1/batch_run.h"

#include <utility>

#include "service/apis/notebook.h"
#include "service/apis/open_r1/api.h"

namespace service::open_r1 {

namespace {

constexpr size_t kAtOnce = 32;  // of one request
constexpr size_t kIdsLogged = 8;

}  // namespace

BatchRun::BatchRun(const ApiContext& context, ExchangePtr exchange, Batch batch)
    : context_(context),
      exchange_(std::move(exchange)),
      batch_(std::move(batch)),
      elements_(batch_.scripts.size()) {}

void BatchRun::start() {
  exchange_->request.body = std::string();  // the batch has it now
  exchange_->when_gone([self = shared_from_this()] {
    self->gone_ = true;
    const std::unordered_set<Dispatcher::Ticket> tickets = self->under_way_;
    for (const Dispatcher::Ticket ticket : tickets) self->context_.dispatcher.withdraw(ticket);
  });
  feed();
}

void BatchRun::feed() {
  if (gone_) return;
  while (next_ < elements_.size() && under_way_.size() < kAtOnce && submit_next()) ++next_;
  if (next_ == elements_.size() && under_way_.empty()) answer();
}

bool BatchRun::submit_next() {
  std::string& element = elements_[next_];
  if (context_.jobs.is_ending()) {
    element = element_without_result("the service is ending");
    return true;
  }
  if (const auto busy = context_.dispatcher.refusal(exchange_->client, std::nullopt)) {
    if (!under_way_.empty()) return false;
    element = element_without_result(busy->why);
    return true;
  }
  Allowance::Share share = exchange_->share.another();
  if (!share.resize(batch_.scripts[next_].size() + notebook_source().size())) {
    if (!under_way_.empty()) return false;
    element = element_without_result("too many bytes are held already");
    return true;
  }
  auto made = job_of(batch_, next_, context_.defaults);
  if (const auto* why = std::get_if<std::string>(&made)) {
    element = element_without_result(*why);
  } else {
    submit(next_, std::get<runtime::Job>(std::move(made)), std::move(share));
  }
  return true;
}

void BatchRun::submit(size_t index, runtime::Job job, Allowance::Share share) {
  Dispatcher::Order order;
  order.job = std::move(job);
  if (order.job.id.empty()) order.job.id = new_job_id();
  if (exchange_->job_count++ < kIdsLogged) exchange_->jobs.push_back(order.job.id);
  order.client = exchange_->client;
  order.api = OpenR1Api::kName;
  order.trace = exchange_->trace;
  order.share = std::move(share);
  order.words = [](const runtime::JobResult& result) {
    return Response{.body = element_of(result)};
  };
  // The ticket is known when the result comes: that is never before submit() has returned.
  auto ticket = std::make_shared<Dispatcher::Ticket>(0);
  order.done = [self = shared_from_this(), index, ticket](Finished finished) {
    self->under_way_.erase(*ticket);
    self->end(index, std::move(finished));
  };
  auto taken = context_.dispatcher.submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken)) {
    elements_[index] = element_without_result(full->why);
    return;
  }
  *ticket = std::get<Dispatcher::Ticket>(taken);
  under_way_.insert(*ticket);
}

void BatchRun::end(size_t index, Finished finished) {
  if (finished.response) {
    elements_[index] = std::move(finished.response->body);
    held_.push_back(std::move(finished.response->held));
    held_.push_back(std::move(finished.held));
  } else {
    elements_[index] = element_without_result("the job was withdrawn");
  }
  feed();
}

void BatchRun::answer() {
  Response response{.body = "["};
  for (const std::string& element : elements_) {
    if (response.body.size() > 1) response.body += ',';
    response.body += element;
  }
  response.body += "]\n";
  response.held = std::make_shared<std::vector<std::shared_ptr<void>>>(std::move(held_));
  exchange_->answer(std::move(response));
}

}  // namespace service::open_r1
