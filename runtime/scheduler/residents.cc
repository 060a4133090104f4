#include "runtime/scheduler/residents.h"

#include <algorithm>
#include <utility>

#include "runtime/job/limits.h"
#include "shim/protocol.h"

namespace runtime {

using sys::Nanoseconds;

Residents::Slot Residents::find(const Task& task) {
  const bool can_be_told = task.request.size() < shim::kShortRequest && task.can_begin_anew() &&
                           task.job.stdin_bytes.empty() && !task.job.fixed.on;
  if (!can_be_told) return cells_.none();
  CellPool::Slots& all = cells_.slots();
  return std::find_if(all.begin(), all.end(), [&task](const CellSlot& slot) {
    return slot.is_occupied() && slot.stays_at == task.job.node->id &&
           slot.cell->shape() == task.shape() && slot.limits == task.job.limits;
  });
}

void Residents::begin(const CellSlot& slot, Task& task) {
  if (slot.cell->state() == CellHandle::State::kOccupied) ++gone_on_;
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
  slot->stays_at = node;
  slot->limits = limits;
  const auto is_occupied = [](const CellSlot& each) { return each.is_occupied(); };
  const CellPool::Slots& all = cells_.slots();
  if (static_cast<size_t>(std::count_if(all.begin(), all.end(), is_occupied)) > most_)
    longest_idle()->cell->vacate();
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

Residents::Slot Residents::longest_idle() {
  CellPool::Slots& all = cells_.slots();
  auto first = all.end();
  for (auto slot = all.begin(); slot != all.end(); ++slot) {
    if (!slot->is_occupied()) continue;
    if (first == all.end() || slot->idle_since < first->idle_since) first = slot;
  }
  return first;
}

}  // namespace runtime
