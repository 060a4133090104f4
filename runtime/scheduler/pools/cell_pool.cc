#include "runtime/scheduler/pools/cell_pool.h"

#include <algorithm>
#include <iterator>

#include "runtime/job/live_io.h"

namespace runtime {

bool CellSlot::is_stranded() const {
  if (parent) return false;
  const std::shared_ptr<Incarnation> of = born_of.lock();
  constexpr long kOwnerAndUs = 2;
  return !of || of->has_ended() || of.use_count() <= kOwnerAndUs;
}

CellPool::Slot CellPool::add() {
  slots_.emplace_front();
  alive_ = slots_.size();
  return slots_.begin();
}

void CellPool::remove(Slot slot) {
  slots_.erase(slot);
  alive_ = slots_.size();
}

CellPool::Slot CellPool::find_idle(const TemplateKey& key, const std::shared_ptr<Incarnation>& of,
                                   const CellShape& shape) {
  auto best = slots_.end();
  for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
    if (!slot->is_idle() || slot->zygote != key) continue;
    if (!slot->is_child_of(of) || slot->cell->shape() != shape) continue;
    if (best == slots_.end() || slot->idle_since > best->idle_since) best = slot;
  }
  return best;
}

void CellPool::bury(Slot slot) {
  graveyard_.splice(graveyard_.begin(), slots_, slot);
  alive_ = slots_.size();
  slot->cell->end([this] { machine_.wake(); });
}

void CellPool::bury_if(const std::function<bool(const CellSlot&)>& which) {
  for (auto slot = slots_.begin(); slot != slots_.end();) {
    const auto next = std::next(slot);
    if (which(*slot)) bury(slot);
    slot = next;
  }
}

void CellPool::make_room() {
  while (slots_.size() >= most_) {
    auto oldest = slots_.end();
    for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
      if (!slot->is_spare()) continue;
      if (oldest == slots_.end() || slot->idle_since < oldest->idle_since) oldest = slot;
    }
    if (oldest == slots_.end()) return;
    bury(oldest);
  }
}

void CellPool::pass_signals() {
  for (CellSlot& slot : slots_) {
    if (!slot.task || slot.task->build || !slot.task->job.live) continue;
    if (!slot.is_running()) continue;
    if (const int number = slot.task->job.live->take_signal()) slot.cell->signal(number);
  }
}

void CellPool::forget_gone() {
  std::erase_if(graveyard_, [](const CellSlot& slot) { return slot.cell->gone(); });
}

void CellPool::clear() {
  graveyard_.clear();
  slots_.clear();
}

size_t CellPool::running() const {
  return static_cast<size_t>(std::count_if(slots_.begin(), slots_.end(), [](const CellSlot& slot) {
    return slot.task && !slot.task->stands_by;
  }));
}

std::optional<sys::Nanoseconds> CellPool::youngest_run() const {
  std::optional<sys::Nanoseconds> youngest;
  for (const CellSlot& slot : slots_) {
    if (!slot.task || slot.task->stands_by || !slot.is_running()) continue;
    youngest = std::max(youngest.value_or(slot.task->leased_at), slot.task->leased_at);
  }
  return youngest;
}

bool CellPool::has_cell_of(const TemplateHandle* parent) const {
  const auto is_child = [parent](const CellSlot& slot) { return slot.parent == parent; };
  return std::any_of(slots_.begin(), slots_.end(), is_child) ||
         std::any_of(graveyard_.begin(), graveyard_.end(), is_child);
}

}  // namespace runtime
