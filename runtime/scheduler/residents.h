#pragma once
// Residents: processes of steps that are over, which stay in their cells for a while, stopped. The
// next step at such a node goes on in its process: that is made once, and the state need not be put
// back. Any other step at it runs in a process of its own, as the node is kept all the same. A
// process that stands by (standbys.h) has been put to a node before, and waits likewise. On the
// scheduler's thread.

#include <atomic>
#include <cstddef>
#include <deque>
#include <set>
#include <string>

#include "runtime/scheduler/machine.h"
#include "runtime/scheduler/pools/cell_pool.h"
#include "runtime/scheduler/task.h"

namespace runtime {

class Residents {
 public:
  using Slot = CellPool::Slot;

  // `patience`: who goes on at once gains by it; an idle node is to be no process. 0: none stays.
  Residents(Machine& machine, CellPool& cells, sys::Nanoseconds patience)
      : machine_(machine), cells_(cells), patience_(patience) {}
  // So many of each kind.
  void keep_at_most(size_t most) { most_ = most; }

  // The task's step may go on in a process that there is, if that is at its node.
  bool can_go_on(const Task& task) const;
  // The cell whose process is at the task's node, and can go on as its step; or none().
  Slot find(const Task& task);
  // The same, of a process that is being put to the node, and that nobody waits for; or none().
  Slot find_coming(const Task& task);
  // No process is there for such a task, or will be, and there is room for one that stands by.
  bool may_stand_by(const Task& task);
  // The task begins in the cell. One that is not the first at its node will not be gone on from at
  // once either: its process is not to stay.
  void begin(const CellSlot& slot, Task& task);
  // A step there has left nothing: the next one is the first.
  void begin_anew(const std::string& node) { gone_on_from_.erase(node); }

  // A step with these limits is over, and its process has stayed. Empty: it has left no node.
  void settle(Slot slot, const Limits& limits, const std::string& node);
  // A process has been put to the node.
  void settle_standby(Slot slot, const Limits& limits, const std::string& node);
  void drop_idle();  // after Machine::vacate_again()

  // Steps; any thread.
  uint64_t gone_on() const { return gone_on_; }
  uint64_t stood_by() const { return stood_by_; }  // in a process that stood by
  uint64_t standbys() const { return standbys_; }  // such processes

 private:
  bool is_first_at(const std::string& node);  // and remembers it
  void keep(Slot slot, const Limits& limits, const std::string& node);

  Machine& machine_;
  CellPool& cells_;
  const sys::Nanoseconds patience_;
  size_t most_ = 1;
  std::atomic<uint64_t> gone_on_{0}, stood_by_{0}, standbys_{0};
  static constexpr size_t kMostRemembered = 1024;
  std::set<std::string> gone_on_from_;  // nodes
  std::deque<std::string> in_order_;
  bool expects_idle_ = false;  // Machine::vacate_again() was asked
};

}  // namespace runtime
