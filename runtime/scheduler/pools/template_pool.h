#pragma once
// TemplatePool: the template processes of one scheduler: started on demand, renewed in time,
// bounded for tenants, retired until the last of their cells is gone. Used on one thread, but for
// the counts.

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cell/handles.h"
#include "runtime/scheduler/catalogue.h"
#include "runtime/scheduler/machine.h"
#include "runtime/scheduler/pools/cell_pool.h"

namespace runtime {

// A template of one key: its process, and the tasks that wait for it.
struct TemplateSlot {
  std::unique_ptr<TemplateHandle> zygote;
  std::vector<TaskPtr> waiting;               // for it to be ready
  bool early_cell = false;                    // one was ordered before it was ready
  uint64_t cells = 0;                         // made by this one ...
  sys::Nanoseconds since{};                   // ... in this time
  std::unique_ptr<TemplateHandle> successor;  // starting, while the other still serves
  sys::Nanoseconds used{};                    // when a task asked for it last
};

class TemplatePool {
 public:
  using Slots = std::map<TemplateKey, TemplateSlot>;

  TemplatePool(Machine& machine, Catalogue& catalogue, CellPool& cells)
      : machine_(machine), catalogue_(catalogue), cells_(cells) {}

  // So many templates are kept for tenants; at least as many as jobs run at once, because each of
  // those keeps one.
  void keep_for_tenants(size_t most) { most_tenants_ = most; }
  // Nodes that nobody uses go after this time, and what they need with them.
  void keep_for_nodes(sys::Nanoseconds idle) { nodes_idle_ = idle; }

  Slots& slots() { return slots_; }
  TemplateSlot* find(const TemplateKey& key);
  TemplateSlot* starting_of(const std::string& tenant);
  // The slot of that template, which is started if it is not there. Null: it could not be, and
  // `problem` says why.
  TemplateSlot* obtain(const TemplateSpec& spec, const TemplateKey& key, Evidence::Fault& problem);
  // The keys whose templates have changed since the last call.
  std::vector<TemplateKey> take_changed() { return std::exchange(changed_, {}); }
  void note_change(const TemplateKey& key);  // on the next turn

  // Starts a successor when the slot's process has made enough cells or is old enough.
  void renew_if_due(const TemplateKey& key, TemplateSlot& slot);
  void adopt_successor(const TemplateKey& key, TemplateSlot& slot);
  // The process that a node was forked from, if it is one of ours: the current one of the slot, or
  // one that was retired and stays because there are nodes.
  struct Home {
    TemplateHandle* process = nullptr;  // null: another scheduler's, or gone
    bool is_gone = false;               // as far as is known here
  };
  Home home_of(const Incarnation& of, const TemplateKey& key);
  void expect_age();  // drop_aged() has something to do in time
  bool is_outdated(const CellSlot& cell) const;
  void bury_outdated(const TemplateKey& key);
  bool has_lost(const CellSlot& cell) const;  // its template is gone, or no good
  void drop_retired();  // ends those without cells, and drops those that have ended
  void retire_all();

  void drop_aged();
  // Where memory is short: those of tenants that do nothing; where there are none but such that
  // nodes need, these.
  void give_back();
  void clear();

  // Thread-safe.
  size_t alive() const { return alive_; }
  size_t of_tenants() const { return of_tenants_; }
  uint64_t dropped() const { return dropped_; }  // of tenants, to make room or by their age

 private:
  sys::Result<std::unique_ptr<TemplateHandle>> start(const TemplateKey& key,
                                                     const TemplateSpec& spec);
  void make_room_for(const TemplateKey& key);
  bool make_room_for(const TemplateKey& key, bool spares_nodes);
  bool is_busy(const TemplateKey& key, const TemplateSlot& slot) const;
  bool is_kept(const TemplateHandle* retired) const;
  size_t drop_idle_tenants(sys::Nanoseconds unused_since, bool spares_nodes);
  void drop_needless();
  void retire(std::unique_ptr<TemplateHandle> zygote, const std::string& tenant);
  sys::Nanoseconds period_of_age() const;
  // False: a step of another scheduler needs it.
  bool drop_template(Slots::iterator found);
  void count();

  Machine& machine_;
  Catalogue& catalogue_;
  CellPool& cells_;
  size_t most_tenants_ = 0;
  sys::Nanoseconds nodes_idle_ = sys::Nanoseconds::max();
  bool ages_ = false;  // Machine::age_again() was asked
  Slots slots_;
  struct Retired {
    std::unique_ptr<TemplateHandle> zygote;
    std::string tenant;
  };
  std::list<Retired> retired_;  // until their cells and they are gone, the oldest first
  std::vector<TemplateKey> changed_;
  std::atomic<size_t> alive_{0}, of_tenants_{0};
  std::atomic<uint64_t> dropped_{0};
};

}  // namespace runtime
