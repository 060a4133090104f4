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
constexpr size_t kMostKept = 4;  // of a tenant: retired processes that only nodes need

bool has_nodes(const TemplateHandle& zygote) { return zygote.incarnation().use_count() > 1; }
bool is_needed(const TemplateHandle& retired) {
  return has_nodes(retired) && !retired.is_ending() &&
         retired.state() == TemplateHandle::State::kReady;
}

// By whichever scheduler.
Nanoseconds used_last(const TemplateSlot& slot) {
  return std::max(slot.used, slot.zygote->incarnation()->used());
}

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
  if (!slot.parent) {
    const std::shared_ptr<Incarnation> of = slot.born_of.lock();
    return !of || of->has_ended();
  }
  auto found = slots_.find(slot.zygote);
  const bool is_current = found != slots_.end() && found->second.zygote.get() == slot.parent;
  if (is_current) {
    const TemplateHandle::State state = slot.parent->state();
    return state == TemplateHandle::State::kRefused || state == TemplateHandle::State::kFailed;
  }
  return std::none_of(retired_.begin(), retired_.end(),
                      [&slot](const Retired& each) { return each.zygote.get() == slot.parent; });
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
    retire(std::move(slot.zygote), key.tenant);
    slot.zygote = std::move(slot.successor);
  }
  slot.successor.reset();
  slot.cells = 0;
  slot.since = machine_.now();
  if (ready) bury_outdated(key);
}

void TemplatePool::bury_outdated(const TemplateKey& key) {
  cells_.bury_if([this, &key](const CellSlot& slot) {
    return slot.is_spare() && slot.zygote == key && is_outdated(slot);
  });
}

TemplatePool::Home TemplatePool::home_of(const Incarnation& of, const TemplateKey& key) {
  const auto found = slots_.find(key);
  if (found != slots_.end() && found->second.zygote->incarnation().get() == &of) {
    const bool is_there = found->second.zygote->state() == TemplateHandle::State::kReady;
    return {found->second.zygote.get(), !is_there};
  }
  const auto retired = std::find_if(retired_.begin(), retired_.end(), [&of](const Retired& each) {
    return each.zygote->incarnation().get() == &of;
  });
  if (retired == retired_.end()) return {};
  return {retired->zygote.get(), !is_needed(*retired->zygote)};
}

void TemplatePool::retire(std::unique_ptr<TemplateHandle> zygote, const std::string& tenant) {
  retired_.push_back({std::move(zygote), tenant});
}

bool TemplatePool::is_kept(const TemplateHandle* retired) const {
  return std::any_of(retired_.begin(), retired_.end(), [retired](const Retired& each) {
    return each.zygote.get() == retired && is_needed(*retired);
  });
}

// Its template is no longer there, or has its image now.
bool TemplatePool::is_outdated(const CellSlot& slot) const {
  if (!slot.parent) return slot.is_stranded();
  if (is_kept(slot.parent)) return slot.early;  // in an early one memory lies elsewhere
  auto found = slots_.find(slot.zygote);
  if (found == slots_.end()) return false;
  const TemplateHandle& current = *found->second.zygote;
  return &current != slot.parent ||
         (slot.early && current.state() == TemplateHandle::State::kReady);
}

// Of those that only nodes need each tenant keeps the latest, and all together no more than there
// are templates of tenants.
void TemplatePool::drop_needless() {
  std::map<std::string, size_t> kept;
  size_t all = 0;
  for (auto each = retired_.rbegin(); each != retired_.rend(); ++each) {
    if (!is_needed(*each->zygote)) continue;
    const bool may_stay =
        all < std::max(kMostKept, most_tenants_) && kept[each->tenant] < kMostKept;
    if (may_stay) {
      ++all;
      ++kept[each->tenant];
      continue;
    }
    cells_.bury_if([parent = each->zygote.get()](const CellSlot& slot) {
      return slot.is_spare() && slot.parent == parent;
    });
    const bool is_idle = !cells_.has_cell_of(each->zygote.get());
    if (is_idle && each->zygote->incarnation()->close()) each->zygote->end();
  }
}

// Cells that live in a template's pid namespace die with it, so the template goes last. It is
// killed, and dropped when it is gone: to drop a living one would wait for its end, which takes as
// long as it has memory, and the loop would wait, too.
void TemplatePool::drop_retired() {
  cells_.bury_if([](const CellSlot& slot) { return slot.is_spare() && slot.is_stranded(); });
  drop_needless();
  std::erase_if(retired_, [this](const Retired& each) {
    if (is_needed(*each.zygote) || cells_.has_cell_of(each.zygote.get())) return false;
    if (!each.zygote->is_ending()) each.zygote->end();
    return !each.zygote->is_ending();
  });
}

void TemplatePool::make_room_for(const TemplateKey& key) {
  if (key.tenant.empty()) return;
  if (!make_room_for(key, true)) (void)make_room_for(key, false);
}

// False: all are busy.
bool TemplatePool::make_room_for(const TemplateKey& key, bool spares_nodes) {
  for (;;) {
    std::vector<TenantTemplate> held;
    std::vector<Slots::iterator> places;
    for (auto found = slots_.begin(); found != slots_.end(); ++found) {
      const auto& [of, slot] = *found;
      if (of.tenant.empty()) continue;
      const bool stays = is_busy(of, slot) || (spares_nodes && has_nodes(*slot.zygote));
      held.push_back({of.tenant, used_last(slot), stays});
      places.push_back(found);
    }
    if (held.size() < most_tenants_) return true;
    const std::optional<size_t> leaves = next_to_leave(held, key.tenant);
    if (!leaves) return false;
    (void)drop_template(places[*leaves]);  // else it is busy now
  }
}

// One that makes its heap image may go: its early cell has served who had waited, and as many could
// be at that as there are tenants.
bool TemplatePool::is_busy(const TemplateKey& key, const TemplateSlot& slot) const {
  if (slot.successor || !slot.waiting.empty()) return true;
  if (slot.zygote->incarnation()->has_visitors()) return true;
  const CellPool::Slots& cells = cells_.slots();
  return std::any_of(cells.begin(), cells.end(), [&key](const CellSlot& cell) {
    return cell.zygote == key && !cell.is_spare();
  });
}

bool TemplatePool::drop_template(Slots::iterator found) {
  if (!found->second.zygote->incarnation()->close()) return false;
  cells_.bury_if([&found](const CellSlot& slot) { return slot.zygote == found->first; });
  // It is killed now, and drop_retired() drops it when it is gone.
  found->second.zygote->end();
  retire(std::move(found->second.zygote), found->first.tenant);
  slots_.erase(found);
  ++dropped_;
  count();
  machine_.wake();
  return true;
}

size_t TemplatePool::drop_idle_tenants(Nanoseconds unused_since, bool spares_nodes) {
  size_t dropped = 0;
  for (auto found = slots_.begin(); found != slots_.end();) {
    auto next = std::next(found);
    const auto& [key, slot] = *found;
    const bool stays = is_busy(key, slot) || (spares_nodes && has_nodes(*slot.zygote));
    const bool may_go = !key.tenant.empty() && used_last(slot) <= unused_since && !stays;
    if (may_go && drop_template(found)) ++dropped;
    found = next;
  }
  return dropped;
}

void TemplatePool::give_back() {
  if (drop_idle_tenants(machine_.now(), true) > 0) return;
  (void)drop_idle_tenants(machine_.now(), false);
  for (Retired& each : retired_) {
    const bool is_idle = is_needed(*each.zygote) && !cells_.has_cell_of(each.zygote.get());
    if (is_idle && each.zygote->incarnation()->close()) each.zygote->end();
  }
}

Nanoseconds TemplatePool::period_of_age() const {
  return std::min(Nanoseconds(catalogue_.tenant_idle()), nodes_idle_);
}

void TemplatePool::expect_age() {
  if (!std::exchange(ages_, true)) machine_.age_again(period_of_age());
}

void TemplatePool::drop_aged() {
  ages_ = false;
  (void)drop_idle_tenants(machine_.now() - Nanoseconds(catalogue_.tenant_idle()), true);
  drop_retired();
  count();
}

// And keeps the clock of their age.
void TemplatePool::count() {
  const auto is_tenants = [](const auto& each) { return !each.first.tenant.empty(); };
  const bool has_any_nodes =
      std::any_of(slots_.begin(), slots_.end(),
                  [](const auto& each) { return has_nodes(*each.second.zygote); }) ||
      std::any_of(retired_.begin(), retired_.end(),
                  [](const Retired& each) { return is_needed(*each.zygote); });
  const bool has_guests = std::any_of(cells_.slots().begin(), cells_.slots().end(),
                                      [](const CellSlot& cell) { return cell.parent == nullptr; });
  const auto number = std::count_if(slots_.begin(), slots_.end(), is_tenants);
  alive_ = slots_.size();
  of_tenants_ = static_cast<size_t>(number);
  if (number > 0 || has_any_nodes || has_guests) expect_age();
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
    retire(std::move(slot.zygote), key.tenant);
    if (slot.successor) retire(std::move(slot.successor), key.tenant);
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
