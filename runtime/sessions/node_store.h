#pragma once
// NodeStore: the nodes of all sessions of an engine, by their ids, and how much memory they may
// take (node_budget.h). A tenant's nodes never make another's go: what it has beyond its room goes,
// the least recently used first. Thread-safe; the clock is an argument.

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/sessions/incarnation.h"
#include "runtime/sessions/node_budget.h"
#include "runtime/sessions/node_file.h"
#include "sandbox/policy.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace runtime {

struct Node {
  std::string id, tenant, template_name;
  unsigned shard = 0;                                     // that ran its step
  sandbox::Profile profile = sandbox::Profile::kDefault;  // of its step, and of all that go on
  std::shared_ptr<Incarnation> of;
  std::shared_ptr<const NodeState> state;
};

struct NodesPlan {
  sys::Bytes memory = sys::mebibytes(1024);
  size_t most = 20'000;  // nodes, and files of them, which are descriptors; shared out as memory is
  sys::Nanoseconds idle = std::chrono::minutes(30);  // one that nobody used for so long goes
};

class NodeStore {
 public:
  explicit NodeStore(NodesPlan plan)
      : plan_(plan),
        budget_(std::make_shared<NodeBudget>(NodeBudget::Amount{plan.memory.count, plan.most})) {}

  sys::Nanoseconds idle() const { return plan_.idle; }
  // The most that the next node of a tenant may have.
  uint64_t room_for(const std::string& tenant) const { return budget_->room_for(tenant); }
  // For a node that is about to be written: those that nobody goes on from make room for it. Null:
  // they are too little.
  NodeBudget::Hold reserve(const std::string& tenant, uint64_t bytes);
  // Takes the node in under a new id; empty: there are too many.
  std::string put(Node node, sys::Nanoseconds now);
  // An error says in a sentence why there is none.
  sys::Result<std::shared_ptr<const Node>> find(const std::string& id, const std::string& tenant,
                                                sys::Nanoseconds now);
  // The same sentence, without a use of the node; empty: it is there.
  std::string why_gone(const std::string& id, const std::string& tenant);
  // One that is not there, or another's, is none of the caller's: false.
  bool forget(const std::string& id, const std::string& tenant);
  void forget_idle(sys::Nanoseconds now);  // and those whose process has ended

  struct Counts {
    size_t nodes = 0;
    uint64_t bytes = 0, dropped = 0;  // for want of room or for their age
  };
  Counts counts() const;

 private:
  struct Kept {
    std::shared_ptr<const Node> node;
    sys::Nanoseconds used{};
    std::list<std::string>::iterator place;  // in its tenant's order
  };
  using ByUse = std::list<std::string>;  // ids, the least recently used first
  enum class Why : uint8_t { kRoom, kIdle, kProcess, kAsked };
  using Found = std::unordered_map<std::string, Kept>::iterator;
  bool make_room(const std::string& tenant, uint64_t bytes);
  std::vector<std::string> spare_nodes(const ByUse& by_use, NodeBudget::Amount wanted) const;
  // To be freed when the lock is open again: that takes as long as a node is large.
  using Dropped = std::vector<std::shared_ptr<const Node>>;
  void drop(Found found, Why why, Dropped& dropped);
  void drop_if_lost(const std::string& id, Dropped& dropped);
  void drop_lost(Dropped& dropped);

  const NodesPlan plan_;
  const std::shared_ptr<NodeBudget> budget_;
  mutable std::mutex mutex_;
  uint64_t dropped_ = 0;
  std::unordered_map<std::string, Kept> nodes_;
  std::map<std::string, ByUse> by_tenant_;
  // The last that have gone, so that their tenant is told why.
  struct Gone {
    std::string tenant;
    Why why;
  };
  std::unordered_map<std::string, Gone> gone_;
  std::deque<std::string> gone_order_;
};

}  // namespace runtime
