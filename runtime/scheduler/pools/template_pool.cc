// All cells of one template process share its address layout, so what one job learns of it, by a
// pointer printed or a value returned, the next can use. A template therefore serves for so many
// cells or so long, and is then replaced by one that was executed anew, with another layout; its
// cells end with their jobs. Nobody waits: the successor starts beside it.
//
// Each tenant has templates of its own, so that no two share an address layout or a cell. There may
// be more tenants than memory for their templates. A bounded number is kept; who comes new takes
// the place of the one that was used longest ago, first of those who hold most
// (tenant_templates.h), and what nobody used for long goes by itself. The common templates are not
// counted and stay.

#include "runtime/scheduler/pools/template_pool.h"

#include <algorithm>
#include <utility>

#include "runtime/scheduler/pools/tenant_templates.h"

namespace runtime {

using sys::Nanoseconds;
using sys::Result;

namespace {

constexpr uint64_t kCellsPerTemplate = 200;
constexpr std::chrono::hours kTemplateAge{1};

}  // namespace

Result<std::unique_ptr<TemplateHandle>> TemplatePool::start(const TemplateKey& key,
                                                            const TemplateSpec& spec) {
  // Called from inside the zygote, which acting on it may drop: that waits for the next turn.
  auto changed = [this, key] { note_change(key); };
  return machine_.start_template(spec, key.variant(), std::move(changed));
}

TemplateSlot* TemplatePool::obtain(const TemplateSpec& spec, const TemplateKey& key,
                                   Evidence::Fault& problem) {
  auto found = slots_.find(key);
  if (found != slots_.end()) found->second.used = machine_.now();
  if (found != slots_.end() && found->second.zygote->state() != TemplateHandle::State::kFailed)
    return &found->second;
  if (found == slots_.end()) make_room_for(key);
  Result<std::unique_ptr<TemplateHandle>> started = start(key, spec);
  if (!started) {
    problem = {shim::Step::kStartTemplate, started.error().code(), started.error().text()};
    return nullptr;
  }
  TemplateSlot& slot = slots_[key];  // what waits for one that failed waits for this one
  slot.zygote = std::move(started).value();
  slot.early_cell = false;
  slot.cells = 0;
  slot.used = slot.since = machine_.now();
  count();
  return &slot;
}

bool TemplatePool::has_lost(const CellSlot& slot) const {
  auto found = slots_.find(slot.zygote);
  const bool is_current = found != slots_.end() && found->second.zygote.get() == slot.parent;
  if (is_current) {
    const TemplateHandle::State state = slot.parent->state();
    return state == TemplateHandle::State::kRefused || state == TemplateHandle::State::kFailed;
  }
  return std::none_of(retired_.begin(), retired_.end(),
                      [&slot](const auto& zygote) { return zygote.get() == slot.parent; });
}

void TemplatePool::renew_if_due(const TemplateKey& key, TemplateSlot& slot) {
  const bool due = slot.cells >= kCellsPerTemplate ||
                   machine_.now() - slot.since >= sys::Nanoseconds(kTemplateAge);
  if (!due || slot.successor) return;
  const TemplateSpec* spec = catalogue_.find_template(key.name);
  if (!spec) return;
  auto started = start(key, *spec);
  if (started.ok()) slot.successor = std::move(started).value();  // else at the next cell
}

// Called on every change of either; a successor that fails is tried again when it is due again.
void TemplatePool::adopt_successor(const TemplateKey& key, TemplateSlot& slot) {
  if (slot.successor->state() == TemplateHandle::State::kStarting) return;
  const bool ready = slot.successor->state() == TemplateHandle::State::kReady;
  if (ready) {
    retired_.push_back(std::move(slot.zygote));
    slot.zygote = std::move(slot.successor);
  }
  slot.successor.reset();
  slot.cells = 0;
  slot.since = machine_.now();
  if (ready) bury_outdated(key);
}

void TemplatePool::bury_outdated(const TemplateKey& key) {
  cells_.bury_if([this, &key](const CellSlot& slot) {
    return slot.is_idle() && slot.zygote == key && is_outdated(slot);
  });
}

// Its template is no longer there, or has its image now.
bool TemplatePool::is_outdated(const CellSlot& slot) const {
  auto found = slots_.find(slot.zygote);
  if (found == slots_.end()) return false;
  const TemplateHandle& current = *found->second.zygote;
  return &current != slot.parent ||
         (slot.early && current.state() == TemplateHandle::State::kReady);
}

// Cells that live in a template's pid namespace die with it, so the template goes last. It is
// killed, and dropped when it is gone: to drop a living one would wait for its end, which takes as
// long as it has memory, and the loop would wait, too.
void TemplatePool::drop_retired() {
  std::erase_if(retired_, [this](const std::unique_ptr<TemplateHandle>& zygote) {
    if (cells_.has_cell_of(zygote.get())) return false;
    if (!zygote->is_ending()) zygote->end();
    return !zygote->is_ending();
  });
}

void TemplatePool::make_room_for(const TemplateKey& key) {
  if (key.tenant.empty()) return;
  for (;;) {
    std::vector<TenantTemplate> held;
    std::vector<Slots::iterator> places;
    for (auto found = slots_.begin(); found != slots_.end(); ++found) {
      if (found->first.tenant.empty()) continue;
      held.push_back(
          {found->first.tenant, found->second.used, is_busy(found->first, found->second)});
      places.push_back(found);
    }
    if (held.size() < most_tenants_) return;
    const std::optional<size_t> leaves = next_to_leave(held, key.tenant);
    if (!leaves) return;
    drop_template(places[*leaves]);
  }
}

// One that makes its heap image may go: its early cell has served who had waited, and as many could
// be at that as there are tenants.
bool TemplatePool::is_busy(const TemplateKey& key, const TemplateSlot& slot) const {
  if (slot.successor || !slot.waiting.empty()) return true;
  const CellPool::Slots& cells = cells_.slots();
  return std::any_of(cells.begin(), cells.end(), [&key](const CellSlot& cell) {
    return cell.zygote == key && !cell.is_idle();
  });
}

void TemplatePool::drop_template(Slots::iterator found) {
  cells_.bury_if([&found](const CellSlot& slot) { return slot.zygote == found->first; });
  // It is killed now, and drop_retired() drops it when it is gone.
  found->second.zygote->end();
  retired_.push_back(std::move(found->second.zygote));
  slots_.erase(found);
  ++dropped_;
  count();
  machine_.wake();
}

void TemplatePool::drop_idle_tenants(Nanoseconds unused_since) {
  for (auto found = slots_.begin(); found != slots_.end();) {
    auto next = std::next(found);
    const auto& [key, slot] = *found;
    if (!key.tenant.empty() && slot.used <= unused_since && !is_busy(key, slot))
      drop_template(found);
    found = next;
  }
}

void TemplatePool::drop_aged() {
  ages_ = false;
  drop_idle_tenants(machine_.now() - Nanoseconds(catalogue_.tenant_idle()));
  count();
}

// And keeps the clock of their age.
void TemplatePool::count() {
  const auto is_tenants = [](const auto& each) { return !each.first.tenant.empty(); };
  const auto number = std::count_if(slots_.begin(), slots_.end(), is_tenants);
  alive_ = slots_.size();
  of_tenants_ = static_cast<size_t>(number);
  if (number == 0 || std::exchange(ages_, true)) return;
  machine_.age_again(catalogue_.tenant_idle());
}

TemplateSlot* TemplatePool::find(const TemplateKey& key) {
  auto found = slots_.find(key);
  return found == slots_.end() ? nullptr : &found->second;
}

TemplateSlot* TemplatePool::starting_of(const std::string& tenant) {
  auto found = std::find_if(slots_.begin(), slots_.end(), [&tenant](const auto& other) {
    return other.first.tenant == tenant &&
           other.second.zygote->state() == TemplateHandle::State::kStarting;
  });
  return found == slots_.end() ? nullptr : &found->second;
}

void TemplatePool::note_change(const TemplateKey& key) {
  changed_.push_back(key);
  machine_.wake();
}

void TemplatePool::retire_all() {
  for (auto& [key, slot] : slots_) {
    retired_.push_back(std::move(slot.zygote));
    if (slot.successor) retired_.push_back(std::move(slot.successor));
  }
  slots_.clear();
  count();
  drop_retired();
}

void TemplatePool::clear() {
  slots_.clear();
  retired_.clear();
}

}  // namespace runtime
