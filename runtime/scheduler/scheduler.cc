#include "runtime/scheduler/scheduler.h"

#include <algorithm>
#include <cerrno>

#include "runtime/job/live_io.h"
#include "runtime/job/micros.h"
#include "runtime/judging/determinism.h"
#include "runtime/sessions/node_store.h"

namespace runtime {

using shim::Step;
using sys::Nanoseconds;
using sys::Result;

namespace {

// Its cell was gone before the job began, and we had not heard, or what holds its memory ended: the
// job is not to blame, and another cell can have it.
bool was_lost(const Evidence::Fault& fault) {
  if (fault.step == Step::kRollback || fault.step == Step::kRestore) return fault.error == ESRCH;
  return fault.step == Step::kSendOrder && (fault.error == EPIPE || fault.error == ECONNRESET);
}

}  // namespace

Scheduler::Scheduler(Machine& machine, Catalogue& catalogue, AdmissionQueue& admission,
                     Capacity& capacity, SchedulerPlan plan)
    : machine_(machine),
      catalogue_(catalogue),
      capacity_(capacity),
      plan_(with_turns(std::move(plan), admission)),
      requests_(machine),
      peers_(*this, admission, capacity),
      replies_(machine, catalogue, admission, capacity,
               {[this](TaskPtr task) { placement_.place(std::move(task)); },
                [this] {
                  peers_.wake_idle();
                  wake();
                }}),
      shortage_(machine, admission, capacity, replies_, peers_, requests_),
      builds_(catalogue, replies_, [this](TaskPtr task) { placement_.place(std::move(task)); }),
      loads_(plan_.nodes, *plan_.turns, replies_,
             [this](TaskPtr task) { placement_.place(std::move(task)); }),
      cells_(machine),
      residents_(machine, cells_, plan_.steps_stay),
      templates_(machine, catalogue, cells_),
      placement_(
          machine, catalogue, requests_, {replies_, shortage_, builds_, loads_, residents_}, cells_,
          templates_,
          {[this](Slot slot) { start_run(slot); }, [this](Slot slot) { return events_of(slot); }}),
      standbys_(machine, {admission, capacity_, cells_, residents_, loads_}, plan_.shard,
                [this](TaskPtr task) { placement_.place_standby(std::move(task)); }),
      retrial_(machine, admission, plan_.reruns),
      cancellation_(admission, replies_, templates_, cells_, retrial_, *plan_.turns) {
  take_over(0);
}

SchedulerPlan Scheduler::with_turns(SchedulerPlan plan, AdmissionQueue& admission) {
  if (plan.turns) return plan;
  plan.turns = std::make_shared<NodeTurns>([this, &admission](TaskPtr task) {
    admission.put_back(std::move(task));
    wake();
  });
  return plan;
}

void Scheduler::take_over(unsigned capacity) {
  plan_.capacity += capacity;
  cells_.keep_at_most(size_t{4} * plan_.capacity + 4);
  residents_.keep_at_most(plan_.capacity);
  templates_.keep_for_tenants(std::max<size_t>(plan_.capacity, plan_.tenant_templates));
  if (plan_.nodes) templates_.keep_for_nodes(plan_.nodes->idle());
}

void Scheduler::drop_aged() {
  if (plan_.nodes) plan_.nodes->forget_idle(machine_.now());
  templates_.drop_aged();
  if (plan_.nodes && plan_.nodes->counts().nodes > 0) templates_.expect_age();
}

// The memory is the step's until the capture is over, though that may outlive the task.
NodeRoom Scheduler::room_for_node(const Task& task) const {
  if (!plan_.nodes) return {.most_bytes = 0, .reserve = [](uint64_t) { return nullptr; }};
  return {.most_bytes = plan_.nodes->room_for(task.job.tenant),
          .reserve = [nodes = plan_.nodes, turns = plan_.turns, tenant = task.job.tenant,
                      turn = task.turn](uint64_t bytes) {
            return turns->take(tenant, [&] { return nodes->reserve(tenant, bytes); });
          }};
}

void Scheduler::end_all() {
  templates_.clear();
  cells_.clear();
}

void Scheduler::turn() {
  const Nanoseconds now = machine_.now();
  if (capacity_.settle(now)) machine_.ask_again(capacity_.patience(now));
  cells_.forget_gone();
  if (requests_.take(Requests::Kind::kCancel) || requests_.is_stopping()) cancellation_.drop_all();
  if (requests_.take(Requests::Kind::kCancelWithdrawn)) cancellation_.drop_withdrawn();
  if (requests_.take(Requests::Kind::kPassSignals)) cells_.pass_signals();
  if (requests_.is_stopping()) return shut_down();
  for (const TemplateKey& key : templates_.take_changed()) placement_.on_template(key);
  templates_.drop_retired();
  give_back();
  start_pairs();
  begin_retrial();
  pump();
}

// Ends when no job is running and every cell's processes are gone.
void Scheduler::shut_down() {
  cells_.bury_if([](const CellSlot& slot) { return !slot.is_running(); });
  if (cells_.empty() && !replies_.has_work_aside()) machine_.finished();
}

// Gives back cells that wait for jobs; and templates, where others are to do the work.
void Scheduler::give_back() {
  const bool asked = requests_.take(Requests::Kind::kGiveBack);
  if (!shortage_.take_refused() && !asked) return;
  templates_.give_back();
  cells_.bury_if([](const CellSlot& slot) { return slot.is_spare(); });
  if (!asked || replies_.leased() > 0 || !peers_.leaves_shards_out()) return;
  templates_.retire_all();
}

// True: another job would be in the way of one that has just begun. It is looked at again soon.
bool Scheduler::holds_back() {
  const Nanoseconds now = machine_.now();
  const Nanoseconds rest = pace_.rest(now, cells_.youngest_run());
  holds_back_ = rest > Nanoseconds(0);
  if (holds_back_) machine_.ask_again(rest);
  return holds_back_;
}

void Scheduler::pump() {
  while (has_room() && !holds_back()) {
    if (Peer* better = peers_.better_placed()) {
      idle_ = true;
      return better->wake();
    }
    TaskPtr task = shortage_.take_in();
    if (!task) {
      idle_ = true;
      // A task may have come between the look and the flag.
      task = shortage_.take_in();
      if (!task) return;
    }
    idle_ = false;
    task->admitted_at = machine_.now();
    if (task->job.deadline && task->admitted_at - task->accepted_at > *task->job.deadline) {
      replies_.withdraw_leased(std::move(task));
      continue;
    }
    placement_.place(std::move(task));
  }
  idle_ = false;
  peers_.hand_back();
}

// What is to be judged anew runs as soon as it may.
void Scheduler::begin_retrial() {
  if (TaskPtr task = retrial_.take_due(replies_.leased())) placement_.place(std::move(task));
}

CellEvents Scheduler::events_of(Slot slot) {
  CellEvents events;
  events.ready = [this, slot] { on_cell_ready(slot); };
  events.finished = [this, slot](RunResult result) { on_run_finished(slot, std::move(result)); };
  events.dead = [this, slot] { on_cell_dead(slot); };
  return events;
}

void Scheduler::on_cell_ready(Slot slot) {
  slot->idle_since = machine_.now();
  if (!slot->task) return;
  start_run(slot);
  if (!slot->task) wake();  // it was answered, and there is room for another
}

void Scheduler::on_cell_dead(Slot slot) {
  if (slot->is_standing_by()) return end_standby(slot);
  const Evidence::Fault fault = shortage_.cause_of(slot->cell->fault());
  TaskPtr task = std::move(slot->task);
  if (task) standbys_.end_run(*task);
  const bool again =
      task && (templates_.has_lost(*slot) || Placement::may_start_again(*task, fault));
  // Where the other side is about to begin it is too late.
  const bool alone = again && (!task->job.pairing || task->job.pairing->retreat(task->job.side));
  if (alone) placement_.place_again(slot->zygote, std::move(task));
  cells_.bury(slot);
  if (task) shortage_.fail_or_wait(std::move(task), fault);
  wake();  // not pump(): this may be running inside the callback of a zygote that pump() would
           // replace
}

// A step has waited for the process that stands by in the cell: there is one now, or none will be.
void Scheduler::place_waiting(CellSlot& slot) {
  if (slot.waits) placement_.place(std::move(slot.waits));
}

// Its process is at its node, or could not be put there, or could not stay.
void Scheduler::end_standby(Slot slot) {
  TaskPtr standby = std::move(slot->task);
  const bool serves_again =
      slot->is_spare() && !slot->cell->worn() && !templates_.is_outdated(*slot);
  const bool stays = serves_again && slot->is_occupied();
  const std::string& node = standby->job.node->id;
  const bool is_fresh = standby->starts_lost > 0;
  const bool may_try_again =
      !stays && standbys_.may_try_again(node, is_fresh) && !requests_.is_stopping();
  if (serves_again) slot->idle_since = machine_.now();
  if (stays) residents_.settle_standby(slot, standby->job.limits, node);
  if (!serves_again || may_try_again) cells_.bury(slot);
  if (slot->waits) {
    place_waiting(*slot);
  } else if (may_try_again) {
    placement_.place_standby(std::move(standby));
  }
  wake();
}

// False: it waits for the other side, or was answered because that will never come.
bool Scheduler::has_partner(Slot slot) {
  Task& task = *slot->task;
  if (!task.job.pairing || task.build) return true;
  switch (task.job.pairing->arrive(task.job.side, [this] { wake(); })) {
    case InteractivePair::Fate::kTogether:
      return true;
    case InteractivePair::Fate::kWaiting:
      return false;
    case InteractivePair::Fate::kAlone:
      break;
  }
  TaskPtr failed = std::move(slot->task);
  slot->idle_since = machine_.now();
  replies_.fail(std::move(failed),
                {Step::kPair, 0, "the other side of the conversation could not be started"});
  return false;
}

// Starts the jobs whose other side has come, or will not come.
void Scheduler::start_pairs() {
  std::vector<Slot> ready;
  for (auto slot = cells_.slots().begin(); slot != cells_.slots().end(); ++slot) {
    if (!slot->task || slot->cell->state() != CellHandle::State::kIdle) continue;
    const std::shared_ptr<InteractivePair>& pairing = slot->task->job.pairing;
    if (pairing && pairing->fate() != InteractivePair::Fate::kWaiting) ready.push_back(slot);
  }
  for (Slot slot : ready) start_run(slot);
}

void Scheduler::start_run(Slot slot) {
  if (!has_partner(slot)) return;
  Task& task = *slot->task;
  if (task.stands_by && !slot->cell->lets_stay()) {
    standbys_.stop();
    slot->task.reset();
    return place_waiting(*slot);
  }
  if (task.stands_by && slot->cell->is_fresh()) ++task.starts_lost;  // no other would do better
  const Job& job = task.current();
  if (Result<void> set = slot->cell->set_limits(job.limits); !set) {
    return give_up_cell(slot, set.error());
  }
  if (Result<void> opened = machine_.open_input(task); !opened) {
    TaskPtr failed = std::move(slot->task);
    return shortage_.fail_or_wait(std::move(failed),
                                  {Step::kInput, opened.error().code(), opened.error().text()});
  }
  slot->stays_at.clear();
  residents_.begin(*slot, task);
  standbys_.begin(task);
  task.leased_at = machine_.now();
  if (task.job.watch) task.job.watch->begin();
  if (task.job.live)
    task.job.live->begin(task.build ? LiveIo::Stage::kBuilding : LiveIo::Stage::kRunning);
  const std::shared_ptr<LiveIo> live = job.live;
  const std::shared_ptr<InteractivePair> pairing = job.pairing;  // a build has neither
  const InteractivePair::Side side = job.side;
  ++forks_;
  machine_.run(*slot->cell, task);  // which may be the end of the task: its cell may be dead
  if (pairing) pairing->sent(side);
  if (live) {
    live->reader_sent();
    if (const int number = live->take_signal(); number != 0 && slot->task)
      slot->cell->signal(number);
  }
  if (slot->task && slot->task->input) slot->task->input->sent();
}

// It cannot hold the job to its limits. A fresh cell would not do better than another fresh one.
void Scheduler::give_up_cell(Slot slot, const sys::Error& error) {
  TaskPtr task = std::move(slot->task);
  const bool fresh = slot->cell->is_fresh();
  cells_.bury(slot);
  place_waiting(*slot);
  if (task->stands_by) return wake();
  if (!fresh) return placement_.place(std::move(task));
  shortage_.fail_or_wait(std::move(task), {Step::kSetLimits, error.code(), error.text()});
  wake();
}

struct Scheduler::Left {
  std::shared_ptr<const NodeState> state;
  std::string why_not;
  std::shared_ptr<Incarnation> of;
};

void Scheduler::on_run_finished(Slot slot, RunResult result) {
  if (slot->is_standing_by()) return end_standby(slot);
  TaskPtr task = std::move(slot->task);
  standbys_.end_run(*task);
  // It ends when what the step leaves is kept, or given back.
  const std::shared_ptr<NodeTurn> turn = std::move(task->turn);
  task->state.reset();
  if (result.evidence.fault) *result.evidence.fault = shortage_.cause_of(*result.evidence.fault);
  const std::optional<Evidence::Fault> fault = result.evidence.fault;
  // Its process may be another scheduler's, which has ended its own by now.
  if (fault && requests_.is_stopping()) result.evidence.cancelled = true;
  const bool ran = result.ran || slot->cell->state() == CellHandle::State::kDead;
  const bool cancelled = result.evidence.cancelled;
  const Doubt doubt = requests_.is_stopping() ? Doubt::kNone : doubt_of(result.evidence);
  Left left = left_by(*slot, result);
  JobResult answer = assemble(*task, *slot, std::move(result));
  task->input.reset();
  pace_.ended(answer.usage);
  const TemplateKey key = slot->zygote;
  const bool early = slot->early;
  const bool serves_again =
      slot->is_spare() && !slot->cell->worn() && !templates_.is_outdated(*slot);
  const bool stays = serves_again && slot->is_occupied();
  const Limits limits = task->job.limits;
  std::string node;  // that the step has left
  if (serves_again)
    slot->idle_since = machine_.now();
  else
    cells_.bury(slot);
  if (fault && !cancelled && was_lost(*fault) && task->can_begin_anew() &&
      Placement::may_start_again(*task, {})) {
    placement_.place_again(key, std::move(task));
  } else if (fault && !cancelled) {
    task = shortage_.run_again(std::move(task), *fault, ran);
  } else {
    capacity_.serve();
    task = retrial_.judge(std::move(task), answer, doubt);
  }
  if (!task) {
    // It waits for room, for another cell, or for being alone.
  } else if (task->build) {
    builds_.finish(std::move(task), std::move(answer));
  } else {
    if (task->job.is_step()) {
      keep_state(*task, std::move(left), answer);
      if (answer.step->kept) node = answer.step->node;
      if (node.empty() && task->job.node) residents_.begin_anew(task->job.node->id);
      standbys_.end(*task, answer.step->kept);
    }
    replies_.conclude(std::move(task), std::move(answer));
  }
  if (stays) residents_.settle(slot, limits, node);
  if (requests_.is_stopping()) return wake();
  if (early) placement_.serve_waiting(key);
  begin_retrial();
  pump();
}

DeterminismReport Scheduler::report_of_fixed(const Task& task, const CellSlot& slot,
                                             const JobResult& result,
                                             bool had_unfixed_child) const {
  const TemplateSpec* spec = catalogue_.find_template(task.job.template_name);
  DeterminismReport report;
  report.fixed = true;
  report.seed = task.job.fixed.seed;
  report.not_fixed = not_fixed({.is_executed = spec->runtime != nullptr,
                                .is_preloaded = task.is_preloaded,
                                .has_own_pids = slot.cell->layers().has(sandbox::Layer::kPidNs),
                                .has_addresses = catalogue_.fixes_addresses(),
                                .had_company = result.usage.pids_peak > 1,
                                .had_unfixed_child = had_unfixed_child,
                                .has_own_view = catalogue_.level() == sandbox::Level::kFull});
  return report;
}

Scheduler::Left Scheduler::left_by(const CellSlot& slot, RunResult& run) {
  Left left{std::move(run.state), std::move(run.why_no_state), nullptr};
  if (!left.state) return left;
  left.of = slot.born_of.lock();
  if (!left.of || left.of->has_ended())
    left = {nullptr, "the process that it was forked from has ended", nullptr};
  // Its process stopped, and said nothing: what it was about nobody knows.
  if (run.testimony.kind == Testimony::Kind::kNothing)
    left = {nullptr, "the program stopped itself", nullptr};
  return left;
}

// What limits, policies or we ourselves have ended leaves the session where it was.
void Scheduler::keep_state(const Task& task, Left left, JobResult& result) {
  StepReport report;
  if (task.job.node) report.node = report.parent = task.job.node->id;
  report.why_not = std::move(left.why_not);
  if (result.verdict.by != By::kProgram) {
    report.why_not = "a step that ends so leaves the session as it was";
  } else if (left.state && plan_.nodes) {
    report.bytes = static_cast<int64_t>(left.state->bytes);
    const std::string id = plan_.nodes->put({.id = {},
                                             .tenant = task.job.tenant,
                                             .template_name = task.job.template_name,
                                             .shard = plan_.shard,
                                             .profile = task.job.policy.profile,
                                             .of = std::move(left.of)},
                                            std::move(left.state), machine_.now());
    report.kept = !id.empty();
    if (report.kept) report.node = id;
    if (!report.kept) report.why_not = "more nodes than there may be";
    templates_.expect_age();
  } else if (report.why_not.empty()) {
    report.why_not = "the program ended before its step was over";
  }
  result.step = std::move(report);
}

JobResult Scheduler::assemble(const Task& task, const CellSlot& slot, RunResult run) {
  const Nanoseconds begin = machine_.now();
  const bool had_unfixed_child = run.had_unfixed_child;
  JobResult result = result_of(task, std::move(run));
  result.enforced = slot.cell->layers();
  result.level = catalogue_.level();
  if (task.job.node) {
    result.template_id = task.job.node->of->identity();
  } else if (const TemplateSlot* zygote = templates_.find(slot.zygote)) {
    result.template_id = zygote->zygote->identity();
  }
  if (task.job.fixed.on && !task.build)
    result.determinism = report_of_fixed(task, slot, result, had_unfixed_child);
  result.timing.judge = micros(machine_.now() - begin);
  return result;
}

}  // namespace runtime
