// Templates of tenants: each has its own, so that no two share an address layout or a cell.
//
// There may be more tenants than memory for their templates. A bounded number is kept; who comes
// new takes the place of the one that was used longest ago, first of those who hold most
// (tenant_templates.h), and what nobody used for long goes by itself. The common templates are not
// counted and stay. Starting one costs some 100 ms of CPU, so a tenant starts one after another on
// each shard: what else it wants waits for that.

#include <algorithm>
#include <utility>

#include "runtime/scheduler/scheduler.h"
#include "runtime/scheduler/tenant_templates.h"

namespace runtime {

using sys::Nanoseconds;

ZygoteKey Scheduler::key_for(const Task& task) const {
  return {catalogue_.find_template(task.job.template_name)->name, task.run, task.job.tenant};
}

// True: the task was taken, until another template of its tenant has started.
bool Scheduler::waits_for_start(const ZygoteKey& key, TaskPtr& task) {
  if (key.tenant.empty() || zygotes_.contains(key)) return false;
  const auto starting = std::find_if(zygotes_.begin(), zygotes_.end(), [&key](const auto& other) {
    return other.first.tenant == key.tenant &&
           other.second.zygote->state() == TemplateHandle::State::kStarting;
  });
  if (starting == zygotes_.end()) return false;
  starting->second.waiting.push_back(std::move(task));
  return true;
}

void Scheduler::make_room_for(const ZygoteKey& key) {
  if (key.tenant.empty()) return;
  // Every job that is leased keeps one at most.
  const size_t most = std::max<size_t>(plan_.capacity, plan_.tenant_templates);
  for (;;) {
    std::vector<TenantTemplate> held;
    std::vector<Zygotes::iterator> places;
    for (auto found = zygotes_.begin(); found != zygotes_.end(); ++found) {
      if (found->first.tenant.empty()) continue;
      held.push_back(
          {found->first.tenant, found->second.used, is_busy(found->first, found->second)});
      places.push_back(found);
    }
    if (held.size() < most) return;
    const std::optional<size_t> leaves = next_to_leave(held, key.tenant);
    if (!leaves) return;
    drop_template(places[*leaves]);
  }
}

// One that makes its heap image may go: its early cell has served who had waited, and as many could
// be at that as there are tenants.
bool Scheduler::is_busy(const ZygoteKey& key, const ZygoteSlot& slot) const {
  if (slot.successor || !slot.waiting.empty()) return true;
  const CellPool::Slots& cells = cells_.slots();
  return std::any_of(cells.begin(), cells.end(), [&key](const CellSlot& cell) {
    return cell.zygote == key && !cell.is_idle();
  });
}

void Scheduler::drop_template(Zygotes::iterator found) {
  cells_.bury_if([&found](const CellSlot& slot) { return slot.zygote == found->first; });
  // Killed now and reaped when it is gone, which takes as long as it had memory.
  found->second.zygote->end();
  retired_.push_back(std::move(found->second.zygote));
  zygotes_.erase(found);
  ++tenant_templates_dropped_;
  count_templates();
  wake();
}

void Scheduler::drop_idle_tenants(Nanoseconds unused_since) {
  for (auto found = zygotes_.begin(); found != zygotes_.end();) {
    auto next = std::next(found);
    const auto& [key, slot] = *found;
    if (!key.tenant.empty() && slot.used <= unused_since && !is_busy(key, slot))
      drop_template(found);
    found = next;
  }
}

void Scheduler::drop_aged() {
  ages_ = false;
  drop_idle_tenants(machine_.now() - Nanoseconds(catalogue_.tenant_idle()));
  count_templates();
}

// And keeps the clock of their age.
void Scheduler::count_templates() {
  const auto is_tenants = [](const auto& each) { return !each.first.tenant.empty(); };
  const auto count = std::count_if(zygotes_.begin(), zygotes_.end(), is_tenants);
  templates_alive_ = zygotes_.size();
  tenant_templates_alive_ = static_cast<size_t>(count);
  if (count == 0 || stopping_ || std::exchange(ages_, true)) return;
  machine_.age_again(catalogue_.tenant_idle());
}

}  // namespace runtime
