#include "service/apis/native/async_results.h"

#include <algorithm>
#include <utility>

namespace service {

void AsyncResults::begin(const std::string& id, std::string client, std::shared_ptr<void> key) {
  Job& job = jobs_[id];
  job.client = std::move(client);
  job.key = std::move(key);
}

void AsyncResults::set_ticket(const std::string& id, Dispatcher::Ticket ticket) {
  jobs_.at(id).ticket = ticket;
}

void AsyncResults::drop(const std::string& id) { jobs_.erase(id); }

void AsyncResults::end(const std::string& id, Finished finished) {
  Job& job = jobs_.at(id);
  job.ended = true;
  job.expired = finished.expired;
  if (job.expired) job.key.reset();  // whoever sends it again has it tried again
  job.json = std::move(finished.json);
  job.held = std::move(finished.held);
  Kept& kept = kept_[job.client];
  job.place = kept.ended.insert(kept.ended.end(), id);
  kept.bytes += job.json.size();
  bytes_ += job.json.size();
  ++ended_;
  job.forget_at = deadlines_.at(sys::monotonic_now() + options_.keep, [this, id] { forget(id); });
  for (auto& [number, waiting] : std::exchange(job.waiting, {})) {
    deadlines_.forget(waiting.until);
    waiting.then(job);
  }
  // On a later turn: those who waited may be in the middle of this one.
  if (ended_ <= options_.most && bytes_ <= options_.most_bytes) return;
  deadlines_.at(sys::monotonic_now(), [this] { make_room(); });
}

void AsyncResults::make_room() {
  while (ended_ > options_.most || (bytes_ > options_.most_bytes && ended_ > 1)) {
    const bool many = ended_ > options_.most;
    const auto greediest =
        std::max_element(kept_.begin(), kept_.end(), [many](const auto& a, const auto& b) {
          return many ? a.second.ended.size() < b.second.ended.size()
                      : a.second.bytes < b.second.bytes;
        });
    forget(std::string(greediest->second.ended.front()));
  }
}

const AsyncResults::Job* AsyncResults::find(const std::string& id,
                                            const std::string& client) const {
  auto found = jobs_.find(id);
  return found == jobs_.end() || found->second.client != client ? nullptr : &found->second;
}

AsyncResults::WaitingId AsyncResults::wait(const std::string& id,
                                           std::optional<sys::Milliseconds> patience,
                                           std::function<void(const Job&)> then) {
  Job& job = jobs_.at(id);
  if (job.ended) {
    then(job);
    return 0;
  }
  const WaitingId number = ++last_waiting_;
  Waiting& waiting = job.waiting[number];
  waiting.then = std::move(then);
  if (!patience) return number;
  waiting.until = deadlines_.at(sys::monotonic_now() + *patience, [this, id, number] {
    auto found = jobs_.find(id);
    if (found == jobs_.end()) return;
    auto late = found->second.waiting.extract(number);
    if (!late.empty()) late.mapped().then(found->second);
  });
  return number;
}

void AsyncResults::leave(const std::string& id, WaitingId waiting) {
  auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  auto left = found->second.waiting.extract(waiting);
  if (!left.empty()) deadlines_.forget(left.mapped().until);
}

void AsyncResults::forget(const std::string& id) {
  auto job = jobs_.extract(id);
  if (job.empty()) return;
  deadlines_.forget(job.mapped().forget_at);
  bytes_ -= job.mapped().json.size();
  --ended_;
  auto kept = kept_.find(job.mapped().client);
  kept->second.bytes -= job.mapped().json.size();
  kept->second.ended.erase(job.mapped().place);
  if (kept->second.ended.empty()) kept_.erase(kept);
}

}  // namespace service
