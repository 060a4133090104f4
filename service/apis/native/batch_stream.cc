#include "service/apis/native/batch_stream.h"

#include <utility>

#include "runtime/host/host_pressure.h"
#include "runtime/json/result/result_json.h"
#include "runtime/judging/judge.h"

namespace service {

namespace {

constexpr size_t kIdsLogged = 8;
constexpr size_t kLongLine = size_t{128} << 10;  // is read on another thread

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

BatchStream::BatchStream(ExchangePtr exchange, runtime::Loop& loop, Dispatcher& dispatcher,
                         BatchBody body, runtime::JobDefaults defaults, size_t at_once, Over over)
    : exchange_(std::move(exchange)),
      loop_(loop),
      dispatcher_(dispatcher),
      reader_(std::move(body), exchange_->request.body, std::move(defaults),
              BatchReader::PartsAre::kRead),
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
  while (!reading_ && under_way_.size() < at_once_ && dispatcher_.has_room_for(exchange_->client) &&
         exchange_->has_room()) {
    if (!next_ && reader_.next_bytes() > kLongLine) {
      read_aside();
      break;
    }
    if (!next_) next_ = reader_.next();
    if (!next_ || !may_hold(*next_)) break;
    std::optional<BatchReader::Item> item = std::exchange(next_, std::nullopt);
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

// Reading a line may take longer than others want to wait.
void BatchStream::read_aside() {
  reading_ = true;
  runtime::run_aside(
      loop_, [self = shared_from_this()] { self->next_ = self->reader_.next(); },
      [self = shared_from_this()] {
        self->reading_ = false;
        self->feed();
      });
}

// The job, beside the line that it was made of. False: it waits until others have ended; where none
// are under way it is told that it cannot be.
bool BatchStream::may_hold(BatchReader::Item& item) {
  const auto* job = std::get_if<runtime::Job>(&item.content);
  if (!job) return true;
  next_share_ = exchange_->share.another();
  if (next_share_.resize(bytes_of(*job))) return true;
  if (!under_way_.empty()) return false;
  runtime::JobResult result;
  result.id = job->id;
  result.tag = job->tag;
  runtime::Evidence seen;
  seen.fault = runtime::held_too_much();
  result.verdict = runtime::judge(seen, {});
  std::string text;
  runtime::append_result(result, text);
  item.content = std::move(text);
  return true;
}

void BatchStream::submit(runtime::Job job) {
  Dispatcher::Order order;
  order.share = std::move(next_share_);
  order.client = exchange_->client;
  order.trace = exchange_->trace;
  order.with_parts = reader_.wants_parts();
  // The ticket is known when the result comes: that is never before submit() has returned.
  auto ticket = std::make_shared<Dispatcher::Ticket>(0);
  order.done = [self = shared_from_this(), ticket](Finished finished) {
    self->under_way_.erase(*ticket);
    // The parts come first, and what is written with one call stays together.
    std::string answer = finished.parts.empty() ? std::move(finished.json)
                                                : std::move(finished.parts) + finished.json;
    self->exchange_->write(std::move(answer) + "\n", std::move(finished.held));
    self->feed();
  };
  order.job = std::move(job);
  const auto taken = dispatcher_.submit(std::move(order));
  *ticket =
      std::get<Dispatcher::Ticket>(taken);  // has_room_for() was asked, and no patience is given
  under_way_.insert(*ticket);
}

void BatchStream::note(const std::string& id) {
  if (exchange_->job_count++ < kIdsLogged) exchange_->jobs.push_back(id);
}

void BatchStream::abandon() {
  abandoned_ = true;
  const std::unordered_set<Dispatcher::Ticket> tickets = under_way_;
  for (Dispatcher::Ticket ticket : tickets) dispatcher_.withdraw(ticket);
  if (auto over = std::exchange(over_, nullptr)) over(shared_from_this());
}

void BatchStream::end_if_done() {
  if (!under_way_.empty() || reading_ || next_ || !reader_.at_end() || abandoned_ ||
      !exchange_->open())
    return;
  exchange_->end();
  if (auto over = std::exchange(over_, nullptr)) over(shared_from_this());
}

}  // namespace service
