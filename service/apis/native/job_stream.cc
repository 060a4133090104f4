#include "service/apis/native/job_stream.h"

#include <utility>
#include <vector>

#include "runtime/host/host_pressure.h"
#include "runtime/json/result/result_json.h"
#include "runtime/judging/judge.h"

namespace service {

namespace {

constexpr size_t kIdsLogged = 8;

size_t bytes_of(const std::vector<runtime::InputFile>& files) {
  size_t bytes = 0;
  for (const runtime::InputFile& file : files) bytes += file.path.size() + file.content.size();
  return bytes;
}

// The bytes of a job's large parts.
size_t bytes_of(const runtime::Job& job) {
  size_t bytes = sizeof job + job.source.size() + job.calls.size() + job.stdin_bytes.size() +
                 job.tag.size() + bytes_of(job.files) + bytes_of(job.run_files);
  for (const std::string& argument : job.argv) bytes += argument.size();
  for (const runtime::TestCase& test : job.tests) {
    bytes += sizeof test + test.stdin_bytes.size() + test.calls.size() +
             test.expect.value_or("").size() + bytes_of(test.files);
  }
  for (const auto& program : {&job.checker, &job.interactor}) {
    if (*program) bytes += (*program)->source.size() + bytes_of((*program)->files);
  }
  return bytes;
}

}  // namespace

JobStream::JobStream(ExchangePtr exchange, Dispatcher& dispatcher, size_t at_once, Over over)
    : exchange_(std::move(exchange)),
      dispatcher_(dispatcher),
      at_once_(at_once),
      over_(std::move(over)) {}

void JobStream::start() {
  exchange_->when_gone([self = shared_from_this()] { self->abandon(); });
  exchange_->when_room([self = shared_from_this()] { self->feed(); });
  exchange_->begin({.type = "application/x-ndjson"});
  feed();
}

void JobStream::feed() {
  if (feeding_ || abandoned_) return;
  const auto self = shared_from_this();
  feeding_ = true;
  while (under_way_.size() < at_once_ && dispatcher_.has_room_for(exchange_->client) &&
         exchange_->has_room()) {
    if (!take_next()) break;
  }
  feeding_ = false;
  end_if_done();
}

void JobStream::submit(Dispatcher::Order order, std::function<void(Finished)> told) {
  order.client = exchange_->client;
  order.trace = exchange_->trace;
  // The ticket is known when the result comes: that is never before submit() has returned.
  auto ticket = std::make_shared<Dispatcher::Ticket>(0);
  order.done = [self = shared_from_this(), ticket, told = std::move(told)](Finished finished) {
    self->under_way_.erase(*ticket);
    told(std::move(finished));
    self->feed();
  };
  const auto taken = dispatcher_.submit(std::move(order));
  *ticket =
      std::get<Dispatcher::Ticket>(taken);  // has_room_for() was asked, and no patience is given
  under_way_.insert(*ticket);
}

void JobStream::note(const std::string& id) {
  if (exchange_->job_count++ < kIdsLogged) exchange_->jobs.push_back(id);
}

std::optional<Allowance::Share> JobStream::room_for(const runtime::Job& job, size_t more) const {
  Allowance::Share share = exchange_->share.another();
  if (!share.resize(bytes_of(job) + more)) return std::nullopt;
  return share;
}

std::string JobStream::without_room(const runtime::Job& job) {
  runtime::JobResult result;
  result.id = job.id;
  result.tag = job.tag;
  runtime::Evidence seen;
  seen.fault = runtime::held_too_much();
  result.verdict = runtime::judge(seen, {});
  std::string text;
  runtime::append_result(result, text);
  return text;
}

void JobStream::withdraw_all() {
  const std::unordered_set<Dispatcher::Ticket> tickets = under_way_;
  for (Dispatcher::Ticket ticket : tickets) dispatcher_.withdraw(ticket);
}

void JobStream::abandon() {
  abandoned_ = true;
  lose_client();
  withdraw_all();
  if (auto over = std::exchange(over_, nullptr)) over(shared_from_this());
}

void JobStream::end_if_done() {
  if (!under_way_.empty() || abandoned_ || !exchange_->open() || !is_at_end() || !settle()) return;
  write_end();
  exchange_->end();
  if (auto over = std::exchange(over_, nullptr)) over(shared_from_this());
}

}  // namespace service
