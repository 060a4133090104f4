#include "cluster/router/members.h"

#include <algorithm>
#include <utility>

#include "sandbox/requirements.h"

namespace cluster {

namespace {

constexpr double kNewest = 0.1;  // weight of a pilot's last word of its speed

}  // namespace

template <class Change>
void Members::change_load(Pilot pilot, Change&& change) {
  const Placement::Load* known = placement_.find(pilot);
  if (!known) return;
  Placement::Load load = *known;
  change(load);
  placement_.set(pilot, load);
}

Members::Pilot Members::enter(Hello hello, std::string address, PilotLink& link) {
  const Pilot pilot = ++last_;
  std::ranges::sort(hello.templates);
  Member& member = members_[pilot];
  member.version = common_version(hello.oldest, hello.newest);
  member.hello = std::move(hello);
  member.address = std::move(address);
  member.since = sys::monotonic_now();
  member.link = &link;
  placement_.add(pilot, {.workers = member.hello.workers});
  return pilot;
}

void Members::leave(Pilot pilot) {
  members_.erase(pilot);
  placement_.remove(pilot);
}

bool Members::set_lapsed(Pilot pilot, bool lapsed) {
  Member& member = members_.at(pilot);
  if (std::exchange(member.lapsed, lapsed) == lapsed) return false;
  change_load(pilot, [&](Placement::Load& load) { load.closed = lapsed || member.draining; });
  return true;
}

void Members::set_draining(Pilot pilot) {
  members_.at(pilot).draining = true;
  change_load(pilot, [](Placement::Load& load) { load.closed = true; });
}

void Members::set_status(Pilot pilot, const Status& status, size_t ours) {
  members_.at(pilot).status = status;
  change_load(pilot, [&](Placement::Load& load) {
    load.full = false;
    load.elsewhere = status.under_way > ours ? status.under_way - static_cast<unsigned>(ours) : 0;
    if (status.mean_us == 0) return;
    load.mean_us = load.mean_us > 0 ? load.mean_us + kNewest * (status.mean_us - load.mean_us)
                                    : status.mean_us;
  });
}

void Members::count(Pilot pilot, size_t ours) {
  change_load(pilot, [ours](Placement::Load& load) { load.ours = static_cast<unsigned>(ours); });
}

void Members::fill(Pilot pilot, size_t ours) {
  change_load(pilot, [ours](Placement::Load& load) {
    load.ours = static_cast<unsigned>(ours);
    load.full = true;
  });
}

void Members::add_verdict(Pilot pilot, const std::string& key) {
  ++members_.at(pilot).ended;
  placement_.warm(pilot, key);
}

bool Members::can_run(Pilot pilot, const runtime::Job& job, bool is_side) const {
  const Hello& hello = members_.at(pilot).hello;
  return std::ranges::binary_search(hello.templates, job.template_name) &&
         sandbox::unmet(static_cast<sandbox::Level>(hello.level),
                        sandbox::Layers::from_bits(hello.layers), job.policy.require)
             .empty() &&
         (!is_side || hello.workers > 1);
}

std::optional<Members::Pilot> Members::choose(const std::string& key, const runtime::Job& job,
                                              bool is_side) {
  const bool anybody = std::ranges::none_of(members_, [&](const auto& each) {
    return !each.second.draining && can_run(each.first, job, is_side);
  });
  return placement_.choose(key, [&](Pilot each) { return anybody || can_run(each, job, is_side); });
}

void Members::send(Pilot pilot, std::string_view message) const {
  if (const auto found = members_.find(pilot); found != members_.end())
    found->second.link->send(message);
}

bool Members::has_template(const std::string& name) const {
  return std::ranges::any_of(members_, [&](const auto& each) {
    return std::ranges::binary_search(each.second.hello.templates, name);
  });
}

runtime::Engine::Standing Members::standing() const {
  runtime::Engine::Standing least{sandbox::Level::kFull, sandbox::Layers::all()};
  for (const auto& [pilot, member] : members_) {
    least.level = std::max(least.level, static_cast<sandbox::Level>(member.hello.level));
    least.layers = sandbox::Layers::from_bits(least.layers.bits() & member.hello.layers);
  }
  return least;
}

runtime::Engine::Counts Members::counts() const {
  runtime::Engine::Counts sum;
  for (const auto& [pilot, member] : members_) {
    const runtime::Engine::Counts& of = member.status.counts;
    sum.cells += of.cells;
    sum.templates += of.templates;
    sum.cells_made += of.cells_made;
    sum.forks += of.forks;
    sum.tenant_templates += of.tenant_templates;
    sum.tenant_templates_dropped += of.tenant_templates_dropped;
    sum.rollback_failures += of.rollback_failures;
  }
  return sum;
}

}  // namespace cluster
