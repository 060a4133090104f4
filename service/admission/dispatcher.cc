#include "service/admission/dispatcher.h"

#include <fmt/format.h>
#include <sys/random.h>

#include "runtime/host/host_pressure.h"
#include "runtime/json/result/result_json.h"
#include "runtime/judging/judge.h"
#include "runtime/values/parts.h"
#include "service/observe/failure_note.h"

namespace service {

using runtime::Outcome;
using sys::Milliseconds;

namespace {

// Enough that a worker that ends a job finds the next one there.
constexpr size_t kAhead = 2;
// Short jobs are given to the engine several at a time: as many as it completes in this time, and
// so many for each worker at most.
constexpr sys::Microseconds kBurst{4000};
constexpr size_t kMostInBurst = 8;

sys::Microseconds time_of(const runtime::Timing& t) {
  return sys::Microseconds(t.lease + t.fork + t.confine + t.run + t.collect + t.judge);
}

// A longer text is written on another thread: a shard's thread has deadlines to keep, and ours has
// clients to answer.
constexpr size_t kLong = size_t{256} << 10;
constexpr size_t kLongInWords = size_t{32} << 10;  // of an API that builds a tree of it
constexpr size_t kBehind = 1024;  // what is written behind a result: a newline, a trace
constexpr size_t kTree = 3;       // the tree and its text take so many times what the text takes

// A result that is too long to be held as text is not told; its program is not to blame.
void give_up_if_too_long(runtime::JobResult& result, size_t bytes, runtime::HeldBytes& held) {
  if (held.grow(bytes)) return;
  runtime::give_up(result, runtime::held_too_much());
}

// Writes it as our JSON, with `raw` bytes of it as parts.
void write(const runtime::JobResult& result, bool with_parts, size_t raw, Finished& finished) {
  std::vector<std::string_view> parts;
  runtime::append_result(result, finished.json, with_parts ? &parts : nullptr);
  if (!parts.empty()) runtime::append_announcement(parts, finished.parts);
  finished.parts.reserve(finished.parts.size() + raw);
  for (const std::string_view part : parts) finished.parts += part;
}

int64_t micros_between(sys::Nanoseconds begin, sys::Nanoseconds end) {
  return std::chrono::duration_cast<sys::Microseconds>(end - begin).count();
}

}  // namespace

// The facts about an order that are known when its result is told.
struct Dispatcher::Telling {
  std::string template_name;
  std::shared_ptr<runtime::Holding> holding;  // none: nothing is counted
  Words words;
  bool with_parts = false;  // of results that are long
  std::function<void(runtime::JobResult&)> amend = {};
  bool with_value = false;

  bool takes_time(const runtime::JobResult& result) const {
    return runtime::bytes_made(result) > (words ? kLongInWords : kLong);
  }
  // At most so many bytes its text will have, but for `raw` parts, and the value beside it.
  size_t most_bytes_of(const runtime::JobResult& result, size_t raw) const {
    return runtime::most_bytes_of(result, raw) * (words ? kTree : 1) + kBehind +
           (with_value ? result.value.size() : 0);
  }
};

Finished Dispatcher::finished_from(runtime::JobResult result, const Telling& telling) {
  Finished finished;
  finished.step = result.step;
  if (telling.amend) telling.amend(result);
  const bool with_parts = telling.with_parts && telling.takes_time(result);
  const size_t raw = with_parts ? runtime::bytes_in_parts(result) : 0;
  const size_t most = telling.most_bytes_of(result, raw);
  std::shared_ptr<runtime::HeldBytes> held;
  if (telling.holding) {
    held = std::make_shared<runtime::HeldBytes>(telling.holding);
    give_up_if_too_long(result, most, *held);
  }
  if (telling.words) {
    finished.response = std::make_shared<Response>(telling.words(result));
    if (held) held->shrink_to(finished.response->body.size() + kBehind);
    finished.response->held = held;
  } else {
    if (!held || held->bytes() > 0) finished.json.reserve(most - raw);
    write(result, with_parts, raw, finished);
    if (telling.with_value) finished.value = std::move(result.value);
    if (held)
      held->shrink_to(finished.json.size() + finished.parts.size() + finished.value.size() +
                      kBehind);
  }
  finished.held = std::move(held);
  finished.label = result.verdict.label();
  finished.template_name = telling.template_name;
  finished.timing = result.timing;
  finished.failure = failure_note(result);
  finished.cpu_us = result.usage.cpu_us;
  return finished;
}

std::string new_job_id() {
  unsigned char bytes[16];
  VERIFY(::getrandom(bytes, sizeof bytes, 0) == static_cast<ssize_t>(sizeof bytes));
  std::string id = "j-";
  for (unsigned char byte : bytes) id += fmt::format("{:02x}", byte);
  return id;
}

void Dispatcher::Inbox::put(Ticket ticket, Finished result) {
  std::lock_guard lock(mutex);
  finished.emplace_back(ticket, std::move(result));
  if (finished.size() == 1) wake();
}

void Dispatcher::Inbox::put(std::function<void()> work) {
  std::lock_guard lock(mutex);
  to_write.push_back(std::move(work));
  if (to_write.size() == 1) wake();
}

// Results of an engine in another process come on the loop's own thread.
void Dispatcher::Inbox::wake() {
  if (!wakeup) return;
  std::this_thread::get_id() == owner ? soon->start() : wakeup->wake();
}

Dispatcher::Dispatcher(runtime::Engine& engine, runtime::Loop& loop, Deadlines& deadlines,
                       const Allowance& held, Options options)
    : engine_(engine),
      loop_(loop),
      deadlines_(deadlines),
      held_(held),
      options_(std::move(options)),
      rate_(engine.workers()),
      wakeup_(loop, [this] { collect(); }),
      soon_(loop, [this] { collect(); }),
      inbox_(std::make_shared<Inbox>()) {
  inbox_->wakeup = &wakeup_;
  inbox_->soon = &soon_;
}

Dispatcher::~Dispatcher() {
  std::lock_guard lock(inbox_->mutex);
  inbox_->wakeup = nullptr;
}

Milliseconds Dispatcher::estimated_wait() const {
  const size_t before = queue_.size() + running_;
  if (before == 0) return Milliseconds(0);
  if (workers() == 0) return kNoWorker;
  if (before < workers()) return Milliseconds(0);
  return rate_.wait_behind(before + 1 - workers()).value_or(Milliseconds(0));
}

void Dispatcher::workers_changed() {
  rate_.set_workers(engine_.workers());
  pump();
}

bool Dispatcher::has_room_for(const std::string& client) const {
  return has_room() && leaves_room(queue_.size_of(client) + 1, options_.queue - queue_.size() - 1);
}

std::optional<Dispatcher::Busy> Dispatcher::refusal(const std::string& client,
                                                    std::optional<Milliseconds> patience) const {
  if (!has_room_for(client))
    return Busy{fmt::format("the queue is full: {} jobs wait, {} of them this client's",
                            queue_.size(), queue_.size_of(client)),
                rate_.retry_after(queue_.size())};
  const size_t before = queue_.size() + running_;
  if (!patience || before < workers()) return std::nullopt;
  const auto wait = rate_.wait_behind(before + 1 - workers());
  if (!wait || *wait <= *patience) return std::nullopt;
  return Busy{fmt::format("it would start in some {} ms; the caller waits {} ms", wait->count(),
                          patience->count()),
              rate_.retry_after(before + 1 - workers())};
}

std::variant<Dispatcher::Ticket, Dispatcher::Busy> Dispatcher::submit(Order order) {
  if (!order.bounded || !has_room()) {
    if (auto busy = refusal(order.client, order.patience)) return *std::move(busy);
  }
  const Ticket ticket = ++last_;
  Entry& entry = entries_[ticket];
  entry.order = std::move(order);
  runtime::Job& job = entry.order.job;
  entry.id = job.id;
  entry.tag = job.tag;
  entry.template_name = job.template_name;
  entry.since = sys::monotonic_now();
  entry.watch = job.watch = std::make_shared<runtime::JobWatch>();
  entry.watch->held = std::make_shared<JobHolding>(Allowance::Share(held_, entry.order.client));
  if (entry.order.trace) entry.watch->trace = entry.order.trace->child();
  if (closed_) {
    end_unrun(ticket, entry, cancelled(entry));
    return ticket;
  }
  // All ways to here pass this place: a job's word of itself counts only if its client may say it.
  const std::string asked = std::exchange(job.tenant, "");
  if (options_.tenant_of) {
    sys::Result<std::string> tenant = options_.tenant_of(entry.order.client, asked);
    if (!tenant) {
      end_unrun(ticket, entry, refused(entry, tenant.error()));
      return ticket;
    }
    job.tenant = std::move(tenant).value();
  }
  if (entry.order.patience) {
    const sys::Nanoseconds until = sys::monotonic_now() + *entry.order.patience;
    entry.deadline = deadlines_.at(until, [this, ticket] { expire(ticket); });
  }
  // Tenants take turns, whoever sends for them. The queue has seen to what is more urgent; with the
  // engine, nobody overtakes another client.
  entry.watch->client = job.tenant.empty() ? entry.order.client : job.tenant;
  queue_.push(ticket, entry.watch->client, std::exchange(job.priority, 0));
  pump();
  return ticket;
}

// Its `done` is not called in here.
void Dispatcher::end_unrun(Ticket ticket, Entry& entry, Finished finished) {
  entry.given = true;
  ++running_;
  ++given_[entry.watch->client];
  inbox_->put(ticket, std::move(finished));
}

// Jobs with the engine at most. It wakes up once for all that it is given together, so it gets
// several where they are short; they are its queue then, for kBurst.
size_t Dispatcher::window() const {
  return workers() * kAhead + std::min(rate_.within(kBurst), workers() * kMostInBurst);
}

// The engine keeps workers for clients that have no job there, so their first one is always given
// to it.
void Dispatcher::pump() {
  const auto has_none = [this](const std::string& client) { return !given_.contains(client); };
  const size_t most = running_ < workers() * kAhead ? window() : 0;
  for (;;) {
    const bool full = running_ >= most;
    const std::optional<Ticket> next = full ? queue_.pop(has_none) : queue_.pop();
    if (!next) return;
    start(*next, entries_.at(*next));
  }
}

void Dispatcher::start(Ticket ticket, Entry& entry) {
  entry.given = true;
  entry.given_at = sys::monotonic_now();
  ++running_;
  ++given_[entry.watch->client];
  if (entry.order.run) {
    auto told = [inbox = inbox_, ticket](Finished finished) {
      inbox->put(ticket, std::move(finished));
    };
    return std::exchange(entry.order.run, nullptr)(engine_, entry.order.job.tenant, entry.watch,
                                                   std::move(told));
  }
  const auto telling = std::make_shared<const Telling>(
      Telling{entry.template_name, entry.watch->held, entry.order.words, entry.order.with_parts,
              std::move(entry.order.amend), entry.order.with_value});
  auto done = [inbox = inbox_, ticket, telling](runtime::JobResult result) {
    if (!telling->takes_time(result))
      return inbox->put(ticket, finished_from(std::move(result), *telling));
    auto long_one = std::make_shared<runtime::JobResult>(std::move(result));
    inbox->put([inbox, ticket, telling, long_one] {
      inbox->put(ticket, finished_from(std::move(*long_one), *telling));
    });
  };
  engine_.submit(std::move(entry.order.job), std::move(done));
}

void Dispatcher::collect() {
  std::vector<std::pair<Ticket, Finished>> finished;
  std::vector<std::function<void()>> to_write;
  {
    std::lock_guard lock(inbox_->mutex);
    finished.swap(inbox_->finished);
    to_write.swap(inbox_->to_write);
  }
  for (auto& work : to_write) runtime::run_aside(loop_, std::move(work), [] {});
  running_ -= finished.size();
  for (const auto& [ticket, result] : finished) take_back(entries_.at(ticket).watch->client);
  pump();  // the workers first
  for (auto& [ticket, result] : finished) {
    result.ran = entries_.at(ticket).watch->has_started();
    if (const sys::Microseconds took = time_of(result.timing); took.count() > 0) rate_.ended(took);
    result.expired = entries_.at(ticket).expired && result.label == name_of(Outcome::kCancelled);
    conclude(ticket, std::move(result));
  }
  options_.room();
}

// One of its orders has ended, perhaps before the engine had it.
void Dispatcher::take_back(const std::string& client) {
  const auto given = given_.find(client);
  if (given != given_.end() && --given->second == 0) given_.erase(given);
}

bool Dispatcher::has_started(Ticket ticket) const {
  auto found = entries_.find(ticket);
  return found != entries_.end() && found->second.watch->has_started();
}

void Dispatcher::withdraw(Ticket ticket) {
  auto found = entries_.find(ticket);
  if (found == entries_.end()) return;
  if (!found->second.given) return drop(ticket);
  found->second.watch->withdrawn = true;
  engine_.cancel_withdrawn();
}

// Its time to start is over.
void Dispatcher::expire(Ticket ticket) {
  Entry& entry = entries_.at(ticket);
  entry.deadline = 0;
  if (entry.watch->has_started()) return;
  entry.expired = true;
  withdraw(ticket);
}

// Drops an order that the engine has not seen.
void Dispatcher::drop(Ticket ticket) {
  queue_.remove(ticket);
  conclude(ticket, cancelled(entries_.at(ticket)));
}

Finished Dispatcher::refused(const Entry& entry, const sys::Error& why) {
  runtime::JobResult result;
  result.id = entry.id;
  result.tag = entry.tag;
  result.verdict = {Outcome::kBadJob,
                    "",
                    runtime::By::kCaller,
                    {{"message", why.text()}, {"path", std::string("tenant")}}};
  return finished_from(std::move(result), {entry.template_name, nullptr, entry.order.words});
}

Finished Dispatcher::cancelled(const Entry& entry) {
  runtime::JobResult result;
  result.id = entry.id;
  result.tag = entry.tag;
  runtime::Evidence seen;
  seen.cancelled = true;
  result.verdict = runtime::judge(seen, {});
  if (entry.expired)
    result.verdict.detail.emplace_back("message", "it could not be started in the time given");
  Finished finished =
      finished_from(std::move(result), {entry.template_name, nullptr, entry.order.words});
  finished.expired = entry.expired;
  return finished;
}

void Dispatcher::conclude(Ticket ticket, Finished finished) {
  auto entry = entries_.extract(ticket);
  Entry& ended = entry.mapped();
  deadlines_.forget(ended.deadline);
  const sys::Nanoseconds now = sys::monotonic_now();
  finished.total_us = micros_between(ended.since, now);
  finished.queued_us =
      micros_between(ended.since, ended.given_at.count() > 0 ? ended.given_at : now);
  finished.id = std::move(ended.id);
  finished.client = ended.order.client;
  finished.api = ended.order.api;
  if (!finished.response) add_service_object(ended.order.trace, finished.json);
  options_.ended(finished);
  ended.order.done(std::move(finished));
}

void Dispatcher::cancel_all() {
  closed_ = true;
  std::vector<Ticket> waiting;
  for (const auto& [ticket, entry] : entries_) {
    entry.watch->withdrawn = true;
    if (!entry.given) waiting.push_back(ticket);
  }
  for (Ticket ticket : waiting) {
    if (entries_.contains(ticket)) drop(ticket);
  }
  engine_.cancel_all();  // compilers, too
}

}  // namespace service
