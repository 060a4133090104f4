#pragma once
// Placement: finds the template and the cell for a task's next run, now or when they are ready, and
// answers the task if there can be none. On the scheduler's thread, but for cells_made().
//
// A template that starts forks one cell before it makes its heap image, which takes longer than
// most programs. That early cell serves what waits until the image is there. A tenant starts one
// template after another, because starting one costs some 100 ms of CPU: what else it wants waits.
//
// A template or a cell that is killed takes along the jobs that run in it. A task that had not
// begun is placed again, and answered only when it has lost too many. The rule is the same for all
// that had not begun, because it cannot be told which came before the kill: the death of a cell is
// often heard of before that of its template, whose socket children of its own may keep open.

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "runtime/scheduler/catalogue.h"
#include "runtime/scheduler/machine.h"
#include "runtime/scheduler/node_loads.h"
#include "runtime/scheduler/pools/cell_pool.h"
#include "runtime/scheduler/pools/template_pool.h"
#include "runtime/scheduler/program_builds.h"
#include "runtime/scheduler/replies.h"
#include "runtime/scheduler/requests.h"
#include "runtime/scheduler/residents.h"
#include "runtime/scheduler/shortage.h"

namespace runtime {

class Placement {
 public:
  using Slot = CellPool::Slot;
  struct Runs {
    std::function<void(Slot)> start;         // the slot's cell is idle and has a task
    std::function<CellEvents(Slot)> events;  // of the cell that is ordered for the slot
  };
  // The parts that a task passes on its way to a cell.
  struct Stations {
    Replies& replies;
    Shortage& shortage;
    ProgramBuilds& builds;
    NodeLoads& loads;
    Residents& residents;
  };
  Placement(Machine& machine, Catalogue& catalogue, const Requests& requests, Stations stations,
            CellPool& cells, TemplatePool& templates, Runs runs)
      : machine_(machine),
        catalogue_(catalogue),
        requests_(requests),
        replies_(stations.replies),
        shortage_(stations.shortage),
        builds_(stations.builds),
        loads_(stations.loads),
        residents_(stations.residents),
        cells_(cells),
        templates_(templates),
        runs_(std::move(runs)) {}

  void place(TaskPtr task);
  // A task that stands by, and has the state of its node. Where it can have no cell it is dropped.
  void place_standby(TaskPtr task);
  // On the next turn: it waits for what becomes of the template, or of the next one.
  void place_again(const TemplateKey& key, TaskPtr task);
  // The template has changed: what waits for it is placed, or fails.
  void on_template(const TemplateKey& key);
  // By the early cell that has become idle: it came before what is in the queue.
  void serve_waiting(const TemplateKey& key);

  // Its template or its cell was lost to `fault` before it began. Counts the loss.
  static bool may_start_again(Task& task, const Evidence::Fault& fault);

  uint64_t cells_made() const { return cells_made_; }  // any thread

 private:
  bool prepare(TaskPtr& task, const TemplateSpec& spec);
  TemplateKey key_for(const Task& task) const;  // its template is known
  bool waits_for_start(const TemplateKey& key, TaskPtr& task);
  void lease(TaskPtr task, TemplateKey key, TemplateSlot& zygote);
  void lease_at_node(TaskPtr task, const TemplateKey& key);
  TemplatePool::Home visit_home(Task& task, const TemplateKey& key);
  void refuse_homeless(TaskPtr task);
  void lease_early(TaskPtr task, const TemplateKey& key, const TemplateSpec& spec,
                   TemplateSlot& zygote);
  sys::Result<void> order_cell(TaskPtr& task, const TemplateKey& key, TemplateSlot& zygote);
  // From that process of its template; null: from the one of its node, which another scheduler
  // owns.
  sys::Result<void> order_cell(TaskPtr& task, const TemplateKey& key, TemplateHandle* parent);

  Machine& machine_;
  Catalogue& catalogue_;
  const Requests& requests_;
  Replies& replies_;
  Shortage& shortage_;
  ProgramBuilds& builds_;
  NodeLoads& loads_;
  Residents& residents_;
  CellPool& cells_;
  TemplatePool& templates_;
  const Runs runs_;
  std::atomic<uint64_t> cells_made_{0};  // written by the scheduler's thread only
};

}  // namespace runtime
