#include "service/deadlines.h"

namespace service {

Deadlines::Id Deadlines::at(sys::Nanoseconds when, std::function<void()> then) {
  const Id id = ++last_;
  auto entry = entries_.emplace(when, Entry{id, std::move(then)});
  by_id_.emplace(id, entry);
  if (entry == entries_.begin()) arm();
  return id;
}

void Deadlines::forget(Id id) {
  auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  entries_.erase(found->second);
  by_id_.erase(found);
}

void Deadlines::fire() {
  const sys::Nanoseconds now = sys::monotonic_now();
  while (!entries_.empty() && entries_.begin()->first <= now) {
    Entry due = std::move(entries_.begin()->second);
    entries_.erase(entries_.begin());
    by_id_.erase(due.id);
    due.then();
  }
  arm();
}

void Deadlines::arm() {
  if (!entries_.empty()) timer_.start(entries_.begin()->first - sys::monotonic_now());
}

}  // namespace service
