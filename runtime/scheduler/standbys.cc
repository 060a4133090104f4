#include "runtime/scheduler/standbys.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/sessions/node_store.h"

namespace runtime {

using sys::Nanoseconds;

namespace {

// Held to the same limits. What it will run is not known yet.
TaskPtr standby_like(const Task& step) {
  auto standby = std::make_unique<Task>();
  standby->stands_by = standby->may_stay = true;
  standby->may_borrow = step.may_borrow;
  Job& job = standby->job;
  job.tenant = step.job.tenant;
  job.template_name = step.job.template_name;
  job.session = step.job.session;
  job.limits = step.job.limits;
  job.policy = step.job.policy;
  return standby;
}

}  // namespace

// A node is looked for where its step has run (Engine::submit()).
bool Standbys::may_be_worth(const Task& step) const {
  const Job& job = step.job;
  return !is_stopped_ && !step.stands_by && job.is_step() && job.node &&
         job.node->shard == shard_ && job.keep && !job.observe &&
         !given_up_.contains(job.node->id) && parts_.residents.can_go_on(step);
}

void Standbys::begin(const Task& step) {
  if (!may_be_worth(step)) return;
  const uint64_t bytes = step.state->bytes_of_all();
  if (bytes > kMostBytes) return give_up(step.job.node->id);
  const Nanoseconds lead = kLead + Nanoseconds(kLeadPerByte * static_cast<int64_t>(bytes));
  const Nanoseconds limit = std::min(step.job.limits.wall, step.job.limits.cpu);
  constexpr unsigned kItself = 1;
  if (limit >= 2 * lead) expect(step, machine_.now() + limit - lead, kItself);
}

void Standbys::end_run(const Task& step) {
  if (step.job.node) forget(step.job.node->id);
}

void Standbys::end(const Task& step, bool is_kept) {
  const bool is_first = step.may_stay;
  if ((is_first && is_kept) || !may_be_worth(step)) return;
  expect(step, machine_.now() + kCalm, 0);
}

bool Standbys::may_try_again(const std::string& node, bool was_fresh) {
  if (failed_.size() >= kMostRemembered) failed_.clear();
  if (!was_fresh && failed_.insert(node).second) return true;
  give_up(node);
  return false;
}

void Standbys::give_up(const std::string& node) {
  if (given_up_.size() >= kMostRemembered) given_up_.clear();
  given_up_.insert(node);
}

void Standbys::expect(const Task& step, Nanoseconds due, unsigned runs_meanwhile) {
  forget(step.job.node->id);
  likely_.push_back(
      {standby_like(step), step.job.node, step.job.node->id, due, due, runs_meanwhile});
  if (likely_.size() > kMostLikely) likely_.pop_front();
  look_again();
}

void Standbys::forget(const std::string& node) {
  std::erase_if(likely_, [&node](const Likely& each) { return each.id == node; });
}

void Standbys::look() {
  looks_at_.reset();
  const Nanoseconds now = machine_.now();
  const size_t running = parts_.cells.running();
  const bool has_no_room = !parts_.admission.empty() || parts_.capacity.is_narrow();
  std::vector<TaskPtr> wanted;
  std::erase_if(likely_, [&](Likely& each) {
    if (each.look > now) return false;
    each.look = now + kCalm;
    if (has_no_room || running > each.runs_meanwhile) return now - each.due > kPatience;
    each.standby->job.node = each.node.lock();
    if (each.standby->job.node) wanted.push_back(std::move(each.standby));
    return true;
  });
  for (TaskPtr& each : wanted) {
    if (parts_.residents.may_stand_by(*each) && parts_.loads.take_present(*each))
      place_(std::move(each));
  }
  look_again();
}

void Standbys::look_again() {
  if (likely_.empty()) return;
  const auto next = std::min_element(
      likely_.begin(), likely_.end(),
      [](const Likely& one, const Likely& other) { return one.look < other.look; });
  if (looks_at_ && *looks_at_ <= next->look) return;
  looks_at_ = next->look;
  machine_.stand_by_again(std::max(next->look - machine_.now(), Nanoseconds(0)));
}

}  // namespace runtime
