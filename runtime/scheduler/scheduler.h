#pragma once
// Scheduler: decides what becomes of tasks. It takes them from the admission queue when it has
// room, leads each through build, lease, run and judge to its one reply, and grows, renews and
// trims its templates and cells. It is passive: it has no thread, no loop, no descriptor and no
// clock. Events come in as calls, time and the kernel's side come from its Machine, so the unit
// tests drive every rule with a fake one. Schedulers of one engine share only the queue, the
// capacity and the catalogue.

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/cell/handles.h"
#include "runtime/scheduler/admission/admission_queue.h"
#include "runtime/scheduler/admission/capacity.h"
#include "runtime/scheduler/admission/pace.h"
#include "runtime/scheduler/admission/peers.h"
#include "runtime/scheduler/cancellation.h"
#include "runtime/scheduler/catalogue.h"
#include "runtime/scheduler/counts.h"
#include "runtime/scheduler/machine.h"
#include "runtime/scheduler/node_loads.h"
#include "runtime/scheduler/node_turns.h"
#include "runtime/scheduler/placement.h"
#include "runtime/scheduler/pools/cell_pool.h"
#include "runtime/scheduler/pools/template_pool.h"
#include "runtime/scheduler/program_builds.h"
#include "runtime/scheduler/replies.h"
#include "runtime/scheduler/requests.h"
#include "runtime/scheduler/residents.h"
#include "runtime/scheduler/retrial.h"
#include "runtime/scheduler/shortage.h"
#include "runtime/scheduler/standbys.h"

namespace runtime {

struct SchedulerPlan {
  unsigned capacity = 2;        // jobs that run at once
  size_t tenant_templates = 0;  // that are kept for tenants; at least `capacity` are
  // Of all schedulers of an engine; none: this one has its own, or no nodes are kept.
  std::shared_ptr<RerunBudget> reruns = {};
  std::shared_ptr<NodeTurns> turns = {};
  std::shared_ptr<NodeStore> nodes = {};
  unsigned shard = 0;                                     // its number among them
  sys::Nanoseconds steps_stay = std::chrono::seconds(1);  // processes of steps; 0: they do not
};

class Scheduler : public Peer {
 public:
  Scheduler(Machine& machine, Catalogue& catalogue, AdmissionQueue& admission, Capacity& capacity,
            SchedulerPlan plan);

  // Does what has been asked for since the last turn, and takes in tasks while there is room.
  // Follows each Machine::wake().
  void turn();
  // Drops the templates of tenants that nobody used for long.
  void drop_aged();
  // Ends processes of steps that wait in vain for the next one.
  void vacate_idle() { residents_.drop_idle(); }
  // Puts processes to nodes for steps that are likely to come.
  void stand_by() {
    if (!requests_.is_stopping()) standbys_.look();
  }
  // Ends all processes, templates before cells, because they take the processes along that would
  // keep a cell's cgroup busy. After Machine::finished().
  void end_all();

  // Both are called before the first task: take_over() with the capacity of a shard that could not
  // be started; set_peers() because a task goes to the scheduler with the least work.
  void take_over(unsigned capacity);
  void set_peers(std::vector<Peer*> peers) { peers_.set(std::move(peers)); }

  // Thread-safe.
  bool idle() const { return idle_; }  // has room, and left nothing in the queue for itself
  NodeRoom room_for_node(const Task& task) const;
  // Others take what there is before a task comes beside one that is judged anew.
  unsigned load() const override { return replies_.leased() + retrial_.weight(); }
  bool has_room() const override { return replies_.leased() < plan_.capacity; }
  bool takes_in() const override { return has_room() && !holds_back_; }
  bool has_templates() const override { return templates_.alive() > 0; }
  void wake() override { machine_.wake(); }
  void wake_if_idle() override {
    if (idle_.exchange(false)) wake();
  }
  void ask_back() override { requests_.make(Requests::Kind::kGiveBack); }
  void cancel() { requests_.make(Requests::Kind::kCancel); }
  void cancel_withdrawn() { requests_.make(Requests::Kind::kCancelWithdrawn); }
  void pass_signals() { requests_.make(Requests::Kind::kPassSignals); }
  // Of all schedulers of an engine before the first stop(): jobs of each may be in processes of
  // others.
  void announce_stop() { requests_.announce_stop(); }
  void stop() { requests_.stop(); }  // running jobs end as Cancelled; then Machine::finished()
  uint64_t steps_gone_on() const { return residents_.gone_on(); }
  uint64_t standbys_made() const { return residents_.standbys(); }
  uint64_t steps_stood_by() const { return residents_.stood_by(); }
  EngineCounts counts() const {
    return {cells_.alive(), templates_.alive(),      placement_.cells_made(),
            forks_,         templates_.of_tenants(), templates_.dropped()};
  }

 private:
  using Slot = CellPool::Slot;

  SchedulerPlan with_turns(SchedulerPlan plan, AdmissionQueue& admission);
  void shut_down();
  void pump();
  bool holds_back();
  void give_back();

  CellEvents events_of(Slot slot);
  void on_cell_ready(Slot slot);
  void on_cell_dead(Slot slot);
  void on_run_finished(Slot slot, RunResult result);
  void end_standby(Slot slot);
  void place_waiting(CellSlot& slot);
  void start_run(Slot slot);
  bool has_partner(Slot slot);
  void start_pairs();
  void begin_retrial();
  void give_up_cell(Slot slot, const sys::Error& error);
  struct Left;  // by a step
  static Left left_by(const CellSlot& slot, RunResult& run);
  void keep_state(const Task& task, Left left, JobResult& result);
  DeterminismReport report_of_fixed(const Task& task, const CellSlot& slot, const JobResult& result,
                                    bool had_unfixed_child) const;
  JobResult assemble(const Task& task, const CellSlot& slot, RunResult run);

  Machine& machine_;
  Catalogue& catalogue_;
  Capacity& capacity_;
  SchedulerPlan plan_;
  std::atomic<bool> idle_{true};
  std::atomic<bool> holds_back_{false};  // it waits before it takes in another task: pace.h
  Requests requests_;
  Peers peers_;
  Pace pace_;
  Replies replies_;
  Shortage shortage_;
  ProgramBuilds builds_;
  NodeLoads loads_;
  CellPool cells_;
  Residents residents_;
  TemplatePool templates_;
  Placement placement_;
  Standbys standbys_;
  Retrial retrial_;
  Cancellation cancellation_;
  std::atomic<uint64_t> forks_{0};  // for counts(); written by this scheduler only
};

}  // namespace runtime
