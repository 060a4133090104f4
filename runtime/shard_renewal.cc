// Renewal of templates. All cells of one template process share its address layout, so what one job
// learns of it, by a pointer printed or a value returned, the next can use. A template therefore
// serves for so many cells or so long, and is then replaced by one that was executed anew, with
// another layout; its cells end with their jobs. Nobody waits: the successor starts beside it.

#include <algorithm>

#include "runtime/shard.h"

namespace runtime {

using sys::Result;

namespace {

constexpr uint64_t kCellsPerTemplate = 200;
constexpr std::chrono::hours kTemplateAge{1};

}  // namespace

Result<std::unique_ptr<Zygote>> Shard::start_zygote(const ZygoteKey& key, const ZygotePlan& plan) {
  // Called from inside the zygote, which acting on it may drop: that waits for the next turn.
  auto changed = [this, key] {
    changed_zygotes_.push_back(key);
    wake();
  };
  return Zygote::start(*loop_, plan, std::move(changed));
}

void Shard::renew_if_due(const ZygoteKey& key, ZygoteSlot& slot) {
  const bool due = slot.cells >= kCellsPerTemplate ||
                   sys::monotonic_now() - slot.since >= sys::Nanoseconds(kTemplateAge);
  if (!due || slot.successor || stopping_) return;
  const TemplateSpec* spec = setting_.find_template(key.first);
  if (!spec) return;
  auto started = start_zygote(key, setting_.zygote_plan(*spec, key.second));
  if (started.ok()) slot.successor = std::move(started).value();  // else at the next cell
}

// Called on every change of either; a successor that fails is tried again when it is due again.
void Shard::adopt_successor(const ZygoteKey& key, ZygoteSlot& slot) {
  if (slot.successor->state() == Zygote::State::kStarting) return;
  const bool ready = slot.successor->state() == Zygote::State::kReady;
  if (ready) {
    retired_.push_back(std::move(slot.zygote));
    slot.zygote = std::move(slot.successor);
  }
  slot.successor.reset();
  slot.cells = 0;
  slot.since = sys::monotonic_now();
  if (!ready) return;
  for (auto cell = cells_.begin(); cell != cells_.end();) {
    auto next = std::next(cell);
    const bool idle = cell->cell->state() == Cell::State::kIdle && !cell->task;
    if (idle && cell->zygote == key && is_outdated(*cell)) bury(cell);
    cell = next;
  }
}

bool Shard::is_outdated(const CellSlot& slot) const {
  auto found = zygotes_.find(slot.zygote);
  return found != zygotes_.end() && found->second.zygote.get() != slot.parent;
}

// Where cells live in a template's pid namespace they die with it, so it goes last.
void Shard::drop_retired() {
  std::erase_if(retired_, [this](const std::unique_ptr<Zygote>& zygote) {
    auto is_child = [&zygote](const CellSlot& slot) { return slot.parent == zygote.get(); };
    return std::none_of(cells_.begin(), cells_.end(), is_child) &&
           std::none_of(graveyard_.begin(), graveyard_.end(), is_child);
  });
}

}  // namespace runtime
