#pragma once
// NodeStore: the nodes of all sessions of an engine, by their ids, and how much memory they may
// take (node_budget.h). A tenant's nodes never make another's go: what it has beyond its room goes,
// the least recently used first; to the disk, if there is one (node_disk.h), and comes back when it
// is asked for. Thread-safe; the clock is an argument.

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/sessions/incarnation.h"
#include "runtime/sessions/node_budget.h"
#include "runtime/sessions/node_disk.h"
#include "runtime/sessions/node_file.h"
#include "sandbox/policy.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace runtime {

// Its holder may have its state, though the node has gone since.
struct Node {
  std::string id, tenant, template_name;
  unsigned shard = 0;                                     // that ran its step
  sandbox::Profile profile = sandbox::Profile::kDefault;  // of its step, and of all that go on
  std::shared_ptr<Incarnation> of;
};

struct NodesPlan {
  sys::Bytes memory = sys::mebibytes(1024);
  size_t most = 20'000;  // nodes, and files of them, which are descriptors; shared out as memory is
  sys::Nanoseconds idle = std::chrono::minutes(30);  // one that nobody used for so long goes
  std::shared_ptr<NodeDisk> disk = {};               // null: none
  sys::Bytes on_disk{};                              // that they may take there
};

class NodeStore {
 public:
  explicit NodeStore(NodesPlan plan);

  sys::Nanoseconds idle() const { return plan_.idle; }
  // The most that the next node of a tenant may have.
  uint64_t room_for(const std::string& tenant) const;
  // For a node that is about to be written: those that nobody goes on from make room for it, which
  // takes time where they are written to the disk. Null: they are too little.
  NodeBudget::Hold reserve(const std::string& tenant, uint64_t bytes);
  // Takes the node in under a new id; empty: there are too many.
  std::string put(Node node, std::shared_ptr<const NodeState> state, sys::Nanoseconds now);
  // An error says in a sentence why there is none.
  sys::Result<std::shared_ptr<const Node>> find(const std::string& id, const std::string& tenant,
                                                sys::Nanoseconds now);
  // The state of a node that find() gave. Null: it is on the disk.
  std::shared_ptr<const NodeState> state_of(const Node& node) const;
  // Reads that, which takes time. Null: memory has no room for it beside what the tenant's steps go
  // on from, and leave, now. An error says in a sentence why the node has gone.
  // `leaves_room`: for another state of its size.
  sys::Result<std::shared_ptr<const NodeState>> load(const Node& node, bool leaves_room = false);
  // The same sentence, without a use of the node; empty: it is there.
  std::string why_gone(const std::string& id, const std::string& tenant);
  // One that is not there, or another's, is none of the caller's: false.
  bool forget(const std::string& id, const std::string& tenant);
  void forget_idle(sys::Nanoseconds now);  // and those whose process has ended

  struct Counts {
    size_t nodes = 0;
    uint64_t bytes = 0, dropped = 0;  // for want of room or for their age
    uint64_t on_disk = 0, disk_bytes = 0;
  };
  Counts counts() const;

 private:
  struct Record : Node {
    explicit Record(Node node) : Node(std::move(node)) {}
    // Under the lock. One of them is there; both, when it has come back from the disk.
    mutable std::shared_ptr<const NodeState> state;
    mutable std::shared_ptr<const StoredState> stored;
    bool is_kept = true;
  };
  struct Kept {
    std::shared_ptr<Record> node;
    sys::Nanoseconds used{};
    std::list<std::string>::iterator place;  // in its tenant's order
  };
  using ByUse = std::list<std::string>;  // ids, the least recently used first
  struct Tenant {
    ByUse by_use;
    // Held by the thread that moves states of this tenant to the disk, or back: others would find
    // no room where room is being made, and write or read twice what states share.
    std::shared_ptr<std::mutex> moves = std::make_shared<std::mutex>();
  };
  enum class Why : uint8_t { kRoom, kIdle, kProcess, kAsked, kUnreadable };
  using Found = std::unordered_map<std::string, Kept>::iterator;
  std::shared_ptr<std::mutex> moves_of(const std::string& tenant);
  std::vector<NodeBudget::Hold> take(const std::string& tenant, const std::vector<uint64_t>& files);
  bool make_room(const std::string& tenant, NodeBudget::Amount wanted);
  bool make_room_of_others(const std::string& tenant, NodeBudget::Amount wanted);
  std::vector<std::string> others_by_memory(const std::string& tenant);
  bool put_oldest_aside(const std::string& tenant);
  enum class Cost : uint8_t { kOthersGo, kNothing };
  bool put_aside(const std::shared_ptr<Record>& record, Cost cost);
  NodeBudget::Hold take_on_disk(const std::string& tenant, NodeBudget::Amount wanted, Cost cost);
  bool make_room_on_disk(const std::string& tenant, Cost cost);
  std::vector<Found> spare_nodes(const ByUse& by_use, NodeBudget::Amount wanted);
  bool is_in_use(const Kept& kept) const;
  // To be freed when the lock is open again: that takes as long as a node is large.
  using Dropped = std::vector<std::shared_ptr<const void>>;
  void drop(Found found, Why why, Dropped& dropped);
  void drop_if_lost(const std::string& id, Dropped& dropped);
  void drop_lost(Dropped& dropped);

  const NodesPlan plan_;
  const std::shared_ptr<NodeBudget> budget_, disk_budget_;
  mutable std::mutex mutex_;
  uint64_t dropped_ = 0, on_disk_ = 0;
  std::unordered_map<std::string, Kept> nodes_;
  // How many nodes each has: few processes for many nodes, so that lost ones are found soon.
  std::unordered_map<const Incarnation*, size_t> nodes_of_;
  std::map<std::string, Tenant> tenants_;
  // The last that have gone, so that their tenant is told why.
  struct Gone {
    std::string tenant;
    Why why;
  };
  std::unordered_map<std::string, Gone> gone_;
  std::deque<std::string> gone_order_;
};

}  // namespace runtime
