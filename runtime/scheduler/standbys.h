#pragma once
// Standbys: processes that are put to a node before a step asks for one there, and stand by. That
// is worth its while where the next step will hardly go on from the node that the last one leaves:
// where steps have branched off at the node before, where a step has left no node, and where one is
// about to come to a limit. It is done while the worker has nothing else to do. On the scheduler's
// thread.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "runtime/scheduler/admission/admission_queue.h"
#include "runtime/scheduler/admission/capacity.h"
#include "runtime/scheduler/machine.h"
#include "runtime/scheduler/node_loads.h"
#include "runtime/scheduler/pools/cell_pool.h"
#include "runtime/scheduler/residents.h"
#include "runtime/scheduler/task.h"

namespace runtime {

class Standbys {
 public:
  // Nothing has run for so long: who goes on at once is not disturbed.
  static constexpr sys::Nanoseconds kCalm = std::chrono::milliseconds(2);
  // A machine that has no such time has none for guesses.
  static constexpr sys::Nanoseconds kPatience = std::chrono::milliseconds(100);
  // A step is about to come to its limit so long before: some ten times what it takes to put its
  // node back.
  static constexpr sys::Nanoseconds kLead = std::chrono::milliseconds(20);
  static constexpr int64_t kLeadPerByte = 5;                  // nanoseconds
  static constexpr uint64_t kMostBytes = uint64_t{32} << 20;  // of a node

  struct Parts {
    AdmissionQueue& admission;
    const Capacity& capacity;
    CellPool& cells;
    Residents& residents;
    NodeLoads& loads;
  };
  // `place`: a task that stands by, with the state of its node, is to have a cell.
  Standbys(Machine& machine, Parts parts, unsigned shard, std::function<void(TaskPtr)> place)
      : machine_(machine), parts_(parts), shard_(shard), place_(std::move(place)) {}

  // A step begins to run. Its run is over: none needs to be ready for that any more. The step has
  // been answered; `is_kept`: it has left a node.
  void begin(const Task& step);
  void end_run(const Task& step);
  void end(const Task& step, bool is_kept);
  void look();  // after Machine::stand_by_again()
  // None could stay there, in a cell that had run no job before (`was_fresh`) or that had. False:
  // the node is given up. In a cell with much that earlier jobs have left another may stay.
  bool may_try_again(const std::string& node, bool was_fresh);
  // No cell lets a process stay, as on all hosts like this one.
  void stop() { is_stopped_ = true; }

 private:
  // It holds nothing of the node, which may go meanwhile.
  struct Likely {
    TaskPtr standby;  // without it
    std::weak_ptr<const Node> node;
    std::string id;  // of it
    sys::Nanoseconds due;
    sys::Nanoseconds look;    // no sooner
    unsigned runs_meanwhile;  // the step that it is to be ready for
  };
  static constexpr size_t kMostLikely = 16, kMostRemembered = 1024;

  bool may_be_worth(const Task& step) const;
  void give_up(const std::string& node);
  void expect(const Task& step, sys::Nanoseconds due, unsigned runs_meanwhile);
  void forget(const std::string& node);
  void look_again();

  Machine& machine_;
  const Parts parts_;
  const unsigned shard_;
  const std::function<void(TaskPtr)> place_;
  std::deque<Likely> likely_;
  std::set<std::string> failed_, given_up_;   // nodes: once; for good
  std::optional<sys::Nanoseconds> looks_at_;  // Machine::stand_by_again() was asked
  bool is_stopped_ = false;
};

}  // namespace runtime
