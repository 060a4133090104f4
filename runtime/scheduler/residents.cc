#include "runtime/scheduler/residents.h"

#include <algorithm>
#include <utility>

#include "runtime/job/limits.h"
#include "shim/protocol.h"

namespace runtime {

using sys::Nanoseconds;

namespace {

// How long it takes is for us to watch; to the rest its process is held.
bool are_alike(const Limits& those, Limits wanted) {
  wanted.wall = those.wall;
  return those == wanted;
}

}  // namespace

bool Residents::can_go_on(const Task& task) const {
  return patience_.count() > 0 && task.request.size() < shim::kShortRequest &&
         task.can_begin_anew() && task.job.stdin_bytes.empty() && !task.job.fixed.on;
}

Residents::Slot Residents::find(const Task& task) {
  if (!can_go_on(task)) return cells_.none();
  CellPool::Slots& all = cells_.slots();
  return std::find_if(all.begin(), all.end(), [&task](const CellSlot& slot) {
    return slot.is_occupied() && slot.stays_at == task.job.node->id &&
           slot.cell->shape() == task.shape() && are_alike(slot.limits, task.job.limits);
  });
}

Residents::Slot Residents::find_coming(const Task& task) {
  if (!can_go_on(task)) return cells_.none();
  CellPool::Slots& all = cells_.slots();
  return std::find_if(all.begin(), all.end(), [&task](const CellSlot& slot) {
    return slot.is_standing_by() && !slot.waits && slot.task->job.node->id == task.job.node->id &&
           slot.cell->shape() == task.shape() && are_alike(slot.task->job.limits, task.job.limits);
  });
}

bool Residents::may_stand_by(const Task& task) {
  const CellPool::Slots& all = cells_.slots();
  const auto stand_by = std::count_if(all.begin(), all.end(), [](const CellSlot& slot) {
    return slot.is_standing_by() || (slot.is_occupied() && slot.stood_by);
  });
  return static_cast<size_t>(stand_by) < most_ && find(task) == cells_.none() &&
         find_coming(task) == cells_.none();
}

void Residents::begin(const CellSlot& slot, Task& task) {
  if (slot.cell->state() == CellHandle::State::kOccupied) ++(slot.stood_by ? stood_by_ : gone_on_);
  if (task.stands_by) return;
  task.may_stay = patience_.count() > 0 && (!task.job.node || is_first_at(task.job.node->id));
}

bool Residents::is_first_at(const std::string& node) {
  if (!gone_on_from_.insert(node).second) return false;
  in_order_.push_back(node);
  if (in_order_.size() > kMostRemembered) {
    gone_on_from_.erase(in_order_.front());
    in_order_.pop_front();
  }
  return true;
}

void Residents::settle(Slot slot, const Limits& limits, const std::string& node) {
  if (!slot->is_occupied()) return;  // it has been given to another task
  if (node.empty()) return slot->cell->vacate();
  slot->stood_by = false;
  keep(slot, limits, node);
}

void Residents::settle_standby(Slot slot, const Limits& limits, const std::string& node) {
  if (!slot->is_occupied()) return;
  slot->stood_by = true;
  ++standbys_;
  keep(slot, limits, node);
}

// In place of the one that has waited for longest, where there are too many.
void Residents::keep(Slot slot, const Limits& limits, const std::string& node) {
  slot->stays_at = node;
  slot->limits = limits;
  CellPool::Slots& all = cells_.slots();
  size_t count = 0;
  Slot longest = slot;
  for (auto each = all.begin(); each != all.end(); ++each) {
    if (!each->is_occupied() || each->stood_by != slot->stood_by) continue;
    ++count;
    if (each->idle_since < longest->idle_since) longest = each;
  }
  if (count > most_) longest->cell->vacate();
  if (!std::exchange(expects_idle_, true)) machine_.vacate_again(patience_);
}

void Residents::drop_idle() {
  constexpr Nanoseconds kNobody = Nanoseconds::max();
  const Nanoseconds now = machine_.now();
  Nanoseconds next = kNobody;
  for (CellSlot& slot : cells_.slots()) {
    if (!slot.is_occupied()) continue;
    const Nanoseconds idle = now - slot.idle_since;
    if (idle >= patience_) {
      slot.cell->vacate();
    } else {
      next = std::min(next, patience_ - idle);
    }
  }
  expects_idle_ = next != kNobody;
  if (expects_idle_) machine_.vacate_again(next);
}

}  // namespace runtime
