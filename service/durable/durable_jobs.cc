#include "service/durable/durable_jobs.h"

#include <algorithm>
#include <utility>

namespace service {

using sys::Result;

namespace {

constexpr sys::Milliseconds kReadAgain{1000};
constexpr size_t kCancelledAtOnce = 500;  // they take no place at the dispatcher

}  // namespace

DurableJobs::DurableJobs(runtime::Loop& loop, Deadlines& deadlines, Dispatcher& dispatcher,
                         std::shared_ptr<Ledger> ledger, Options options)
    : deadlines_(deadlines),
      dispatcher_(dispatcher),
      options_(std::move(options)),
      ledger_writer_(loop, deadlines, std::move(ledger), options_.rested) {}

void DurableJobs::take_over(std::vector<Waiting> left) {
  for (Waiting& facts : left) enqueue(std::move(facts));
}

void DurableJobs::start() {
  started_ = true;
  ledger_writer_.tidy();
  feed();
}

void DurableJobs::enqueue(Waiting facts) {
  const int64_t number = facts.number;
  queue_.push(static_cast<FairQueue::Ticket>(number), facts.client, facts.priority);
  Job& job = jobs_[number];
  if (facts.until_ms != 0) {
    const sys::Milliseconds left(std::max<int64_t>(0, facts.until_ms - system_now_ms()));
    job.until = deadlines_.at(sys::monotonic_now() + left, [this, number] {
      jobs_.at(number).until = 0;
      doom(number, Fate::kExpired);
    });
  }
  job.facts = std::move(facts);
}

void DurableJobs::accept(DurableRequest arrival, std::function<void(Result<Receipt>)> then) {
  ledger_writer_.accept(std::move(arrival),
                        [this, then = std::move(then)](Result<Receipt> receipt) {
                          if (receipt) {
                            for (Waiting& facts : std::exchange(receipt->waiting, {}))
                              enqueue(std::move(facts));
                          }
                          then(std::move(receipt));
                          feed();
                        });
}

void DurableJobs::find(const std::string& id, const std::string& client,
                       std::function<void(Result<std::optional<Progress>>)> then) {
  using Found = Result<std::optional<Progress>>;
  auto found = std::make_shared<Found>(std::optional<Progress>());
  ledger_writer_.read([id, client, found](Ledger& ledger) { *found = ledger.find(id, client); },
                      [found, then = std::move(then)] { then(std::move(*found)); });
}

void DurableJobs::read_verdicts(int64_t request, size_t after, size_t bytes,
                                std::function<void(Result<std::vector<VerdictEntry>>)> then) {
  using Found = Result<std::vector<VerdictEntry>>;
  auto found = std::make_shared<Found>(std::vector<VerdictEntry>());
  ledger_writer_.read([request, after, bytes,
                       found](Ledger& ledger) { *found = ledger.verdicts(request, after, bytes); },
                      [found, then = std::move(then)] { then(std::move(*found)); });
}

bool DurableJobs::has_room() const {
  return loading_ + loaded_.size() + at_desk_ < options_.at_once && bytes_ < options_.bytes_at_once;
}

void DurableJobs::feed() {
  submit_loaded();
  if (loading_ == 0 && retry_ == 0) load();
}

std::vector<int64_t> DurableJobs::next_to_load() {
  std::vector<int64_t> numbers;
  auto take = [this, &numbers](int64_t number) {
    Job& job = jobs_.at(number);
    job.place = Place::kLoading;
    bytes_ += job.facts.bytes;
    ++loading_;
    numbers.push_back(number);
  };
  while (!first_.empty() && loading_ < kCancelledAtOnce && bytes_ < options_.bytes_at_once) {
    take(first_.front());
    first_.pop_front();
  }
  const bool more =
      started_ && !ending_ && ledger_writer_.unwritten_bytes() < options_.unwritten_bytes;
  while (more && has_room()) {
    const std::optional<FairQueue::Ticket> next = queue_.pop();
    if (!next) break;
    take(static_cast<int64_t>(*next));
  }
  return numbers;
}

void DurableJobs::load() {
  const std::vector<int64_t> numbers = next_to_load();
  if (numbers.empty()) return;
  auto jobs = std::make_shared<std::vector<LoadedJob>>();
  auto failed = std::make_shared<bool>(false);
  auto work = [jobs, failed, numbers, knows = options_.knows_template](Ledger& ledger) {
    const Result<std::vector<StoredJob>> stored = ledger.load(numbers);
    *failed = !stored.ok();
    if (!stored) return;
    for (const StoredJob& each : *stored) jobs->push_back(job_of(each, knows));
  };
  ledger_writer_.read(std::move(work), [this, jobs, failed, numbers] {
    loading_ = 0;
    if (*failed) return not_loaded(numbers);
    loaded(std::move(*jobs));
  });
}

// The disk has its troubles; they do not become the job's.
void DurableJobs::not_loaded(const std::vector<int64_t>& numbers) {
  for (int64_t number : numbers) {
    bytes_ -= jobs_.at(number).facts.bytes;
    first_.push_back(number);
  }
  retry_ = deadlines_.at(sys::monotonic_now() + kReadAgain, [this] {
    retry_ = 0;
    feed();
  });
}

void DurableJobs::loaded(std::vector<LoadedJob> jobs) {
  for (LoadedJob& each : jobs) {
    jobs_.at(each.number).place = Place::kLoaded;
    loaded_.push_back(std::move(each));
  }
  feed();
}

void DurableJobs::submit_loaded() {
  std::deque<LoadedJob> waiting;
  for (LoadedJob& each : std::exchange(loaded_, {})) {
    Job& job = jobs_.at(each.number);
    const bool doomed = job.fate != Fate::kNone;
    if (!doomed && !ending_ && each.verdict.empty() && !dispatcher_.has_room()) {
      waiting.push_back(std::move(each));
      continue;
    }
    if (!doomed && ending_) {
      leave(each.number);
    } else if (!doomed && each.verdict.empty()) {
      submit(std::move(each.job), each.number);
      continue;
    } else if (doomed) {
      Finished finished = cancelled_unseen(each.job, job.fate == Fate::kExpired);
      options_.ended(finished);
      record(each.number, std::move(finished.json), finished.expired);
    } else {
      record(each.number, std::move(each.verdict), false);
    }
    bytes_ -= job.facts.bytes;
  }
  loaded_.insert(loaded_.begin(), std::make_move_iterator(waiting.begin()),
                 std::make_move_iterator(waiting.end()));
}

void DurableJobs::submit(runtime::Job made, int64_t number) {
  Job& job = jobs_.at(number);
  runtime::Job identity;
  identity.id = made.id;
  identity.tag = made.tag;
  Dispatcher::Order order;
  order.client = job.facts.client;
  order.job = std::move(made);
  order.done = [this, number, identity = std::move(identity)](Finished finished) {
    ended(number, identity, std::move(finished));
  };
  order.bounded = true;
  job.place = Place::kDispatcher;
  ++at_desk_;
  // There is room, and no patience is given: it is taken.
  job.ticket = std::get<Dispatcher::Ticket>(dispatcher_.submit(std::move(order)));
}

void DurableJobs::ended(int64_t number, const runtime::Job& identity, Finished finished) {
  Job& job = jobs_.at(number);
  --at_desk_;
  bytes_ -= job.facts.bytes;
  const bool cancelled = finished.label == name_of(runtime::Outcome::kCancelled);
  const bool broken = finished.label == name_of(runtime::Outcome::kSandboxError);
  if (cancelled && job.fate == Fate::kExpired) {
    record(number, cancelled_unseen(identity, true).json, true);
  } else if ((cancelled && job.fate == Fate::kNone) || (broken && ending_)) {
    leave(number);  // the service cancels what it cannot end
  } else {
    job.held = std::move(finished.held);
    record(number, std::move(finished.json), false);
  }
  feed();
}

void DurableJobs::leave(int64_t number) {
  Job& job = jobs_.at(number);
  job.place = Place::kLeft;
  deadlines_.forget(std::exchange(job.until, 0));
  tell(job.facts.request, nullptr);
}

// It is not to run any more.
void DurableJobs::doom(int64_t number, Fate fate) {
  Job& job = jobs_.at(number);
  if (job.fate != Fate::kNone) return;
  switch (job.place) {
    case Place::kQueue:
      job.fate = fate;
      if (queue_.remove(static_cast<FairQueue::Ticket>(number))) first_.push_back(number);
      return feed();
    case Place::kLoading:
    case Place::kLoaded:
      job.fate = fate;
      return feed();
    case Place::kDispatcher:
      if (fate == Fate::kExpired && dispatcher_.has_started(job.ticket)) return;
      job.fate = fate;
      return dispatcher_.withdraw(job.ticket);
    case Place::kLedgerWriter:
    case Place::kLeft:
      return;
  }
}

void DurableJobs::withdraw(int64_t request) {
  std::vector<int64_t> numbers;
  for (const auto& [number, job] : jobs_) {
    if (job.facts.request == request) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  for (int64_t number : numbers) doom(number, Fate::kWithdrawn);
}

DurableJobs::State DurableJobs::state_of(int64_t request) const {
  const bool running = std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& each) {
    const Job& job = each.second;
    return job.facts.request == request &&
           (job.place == Place::kLedgerWriter ||
            (job.place == Place::kDispatcher && dispatcher_.has_started(job.ticket)));
  });
  return running ? State::kRunning : State::kQueued;
}

void DurableJobs::record(int64_t number, std::string json, bool expired) {
  Job& job = jobs_.at(number);
  job.place = Place::kLedgerWriter;
  deadlines_.forget(std::exchange(job.until, 0));
  ledger_writer_.record(
      {.number = number, .request = job.facts.request, .json = std::move(json), .expired = expired},
      [this](const VerdictEntry& verdict) { told(verdict); });
}

void DurableJobs::told(const VerdictEntry& verdict) {
  jobs_.erase(verdict.number);
  tell(verdict.request, &verdict);
  feed();  // perhaps it had stopped for want of space
}

// A watcher may take itself away, or others.
void DurableJobs::tell(int64_t request, const VerdictEntry* verdict) {
  auto found = watchers_.find(request);
  if (found == watchers_.end()) return;
  std::vector<WatcherId> ids;
  for (const auto& [id, watcher] : found->second) ids.push_back(id);
  for (WatcherId id : ids) {
    found = watchers_.find(request);
    if (found == watchers_.end()) return;
    auto watcher = found->second.find(id);
    if (watcher == found->second.end()) continue;
    const Watcher call = watcher->second;
    call(verdict);
  }
}

DurableJobs::WatcherId DurableJobs::watch(int64_t request, Watcher watcher) {
  watchers_[request].emplace(++last_watcher_, std::move(watcher));
  return last_watcher_;
}

void DurableJobs::unwatch(int64_t request, WatcherId id) {
  auto found = watchers_.find(request);
  if (found == watchers_.end()) return;
  found->second.erase(id);
  if (found->second.empty()) watchers_.erase(found);
}

void DurableJobs::begin_end() {
  ending_ = true;
  std::vector<Dispatcher::Ticket> not_started;
  for (const auto& [number, job] : jobs_) {
    if (job.place == Place::kDispatcher && job.fate == Fate::kNone &&
        !dispatcher_.has_started(job.ticket))
      not_started.push_back(job.ticket);
  }
  for (Dispatcher::Ticket ticket : not_started) dispatcher_.withdraw(ticket);
  submit_loaded();
  std::vector<int64_t> watched;
  for (const auto& [request, watchers] : watchers_) watched.push_back(request);
  for (int64_t request : watched) {
    if (state_of(request) == State::kQueued) tell(request, nullptr);
  }
}

}  // namespace service
