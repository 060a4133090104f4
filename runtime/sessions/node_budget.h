#pragma once
// NodeBudget: the memory that the nodes of an engine have, and what each tenant may have of it: as
// much as is free, which leaves something for who comes (the dynamic threshold of Choudhury and
// Hahne, IEEE/ACM Trans. Networking 6(2), 1998). Thread-safe.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "sandbox/sys/units.h"

namespace runtime {

class NodeBudget : public std::enable_shared_from_this<NodeBudget> {
 public:
  explicit NodeBudget(sys::Bytes memory) : memory_(memory.count) {}

  // Of all nodes of a tenant together, those included that it has.
  uint64_t room_for(const std::string& tenant) const;
  uint64_t used_by(const std::string& tenant) const;
  uint64_t used() const;
  // Bytes of a node, before they are written. They count until the last copy of what is returned is
  // gone; null: they are more than the tenant may have.
  using Hold = std::shared_ptr<const void>;
  Hold take(const std::string& tenant, uint64_t bytes);

 private:
  uint64_t used_by_locked(const std::string& tenant) const;
  uint64_t room_locked(const std::string& tenant) const;
  void give_back(const std::string& tenant, uint64_t bytes);

  const uint64_t memory_;
  mutable std::mutex mutex_;
  uint64_t used_ = 0;
  std::map<std::string, uint64_t> by_tenant_;
};

// What the node of a step may have.
struct NodeRoom {
  uint64_t most_bytes = 0;
  std::function<NodeBudget::Hold(uint64_t bytes)> reserve;  // as NodeStore::reserve()
};

}  // namespace runtime
