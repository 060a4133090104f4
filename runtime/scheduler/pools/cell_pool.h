#pragma once
// CellPool: the cells of one scheduler, alive and on their way out. A slot holds its cell from the
// order until its processes are gone. Used on one thread, but for alive().

#include <atomic>
#include <compare>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "runtime/cell/handles.h"
#include "runtime/scheduler/machine.h"
#include "runtime/scheduler/task.h"

namespace runtime {

// Tenants share no template, so no address layout, and with it no cell.
struct TemplateKey {
  std::string name;  // of the template
  unsigned seed = 0;
  std::string tenant;
  bool fixed = false;  // for jobs in fixed mode
  TemplateVariant variant() const { return {seed, fixed}; }
  auto operator<=>(const TemplateKey&) const = default;
};

struct CellSlot {
  std::unique_ptr<CellHandle> cell;
  TemplateKey zygote;
  // Which process of that template, which may be gone; null: one that another scheduler owns.
  const TemplateHandle* parent = nullptr;
  std::weak_ptr<Incarnation> born_of;  // of it
  TaskPtr task;                        // starting: to be run first; running: running
  TaskPtr waits;                       // for the process that a task that stands by will have
  sys::Nanoseconds idle_since{};
  std::string stays_at;   // occupied: by a process that is at that node ...
  Limits limits;          // ... with these
  bool stood_by = false;  // ... and has run no step
  bool early = false;     // of a template without its image: serves only until that is there

  bool is_child_of(const std::shared_ptr<Incarnation>& of) const {
    return !born_of.owner_before(of) && !of.owner_before(born_of);
  }
  // Of another scheduler's process, which has ended, or no node needs any more.
  bool is_stranded() const;
  bool is_idle() const { return cell->state() == CellHandle::State::kIdle && !task; }
  bool is_occupied() const { return cell->state() == CellHandle::State::kOccupied && !task; }
  // A process is being put to the node of its task, for whoever comes.
  bool is_standing_by() const { return task && task->stands_by; }
  // Nobody would miss it.
  bool is_spare() const { return is_idle() || is_occupied(); }
  bool is_running() const { return cell->state() == CellHandle::State::kRunning; }
};

class CellPool {
 public:
  using Slots = std::list<CellSlot>;
  using Slot = Slots::iterator;

  explicit CellPool(Machine& machine) : machine_(machine) {}

  // The slots in use; a slot stays where it is until it is buried.
  Slots& slots() { return slots_; }
  const Slots& slots() const { return slots_; }
  Slot none() { return slots_.end(); }
  Slot add();
  void remove(Slot slot);  // no cell was made for it

  // The idle cell of that template process and shape that was used last, which is the warmest.
  Slot find_idle(const TemplateKey& key, const std::shared_ptr<Incarnation>& of,
                 const CellShape& shape);
  // Ends the cell; its slot lives on until the cell is gone, and Machine::wake() tells of that.
  void bury(Slot slot);
  void bury_if(const std::function<bool(const CellSlot&)>& which);
  // Idle cells of other templates, profiles or sizes are kept while there is room.
  void keep_at_most(size_t most) { most_ = most; }
  // Ends spare cells, the one first that was so for longest, until there is room for one more.
  void make_room();
  // Signals of callers, to the jobs that run. One that has not begun gets its signal when it has.
  void pass_signals();
  void forget_gone();
  void clear();

  size_t running() const;                                // jobs of callers
  std::optional<sys::Nanoseconds> youngest_run() const;  // when the last that runs has begun
  bool has_cell_of(const TemplateHandle* parent) const;  // be it on its way out
  bool empty() const { return slots_.empty() && graveyard_.empty(); }
  size_t alive() const { return alive_; }  // thread-safe

 private:
  Machine& machine_;
  size_t most_ = 1;
  Slots slots_, graveyard_;
  std::atomic<size_t> alive_{0};
};

}  // namespace runtime
