#pragma once
// NodeBudget: the memory and the files that the nodes of an engine have, and what each tenant may
// have of both: as much as is free, which leaves something for who comes (the dynamic threshold of
// Choudhury and Hahne, IEEE/ACM Trans. Networking 6(2), 1998). Thread-safe.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/sys/units.h"

namespace runtime {

class NodeBudget : public std::enable_shared_from_this<NodeBudget> {
 public:
  struct Amount {
    uint64_t bytes = 0;
    uint64_t files = 0;  // each of which is a descriptor
    bool operator==(const Amount&) const = default;
  };
  explicit NodeBudget(Amount all) : all_(all) {}

  // Bytes of all nodes of a tenant together, those included that it has.
  uint64_t room_for(const std::string& tenant) const;
  uint64_t used() const;                                     // bytes
  uint64_t used_by_tenant(const std::string& tenant) const;  // likewise
  // The amount that all others have to give up before the tenant may take `wanted`, were its own
  // nodes gone; none: it is too much.
  std::optional<Amount> lacking_of_others(const std::string& tenant, Amount wanted) const;
  // The amount that the tenant has to give up itself; none: that would not be enough.
  std::optional<Amount> lacking(const std::string& tenant, Amount wanted) const;
  // It counts until the last copy of what is returned is gone; null: it is more than the tenant may
  // have.
  using Hold = std::shared_ptr<const void>;
  Hold take(const std::string& tenant, Amount wanted);
  // Files of so many bytes, before they are written: a hold of each. Empty: all of them are more.
  std::vector<Hold> take_each(const std::string& tenant, const std::vector<uint64_t>& files);

 private:
  // With the mutex held.
  Amount used_by(const std::string& tenant) const;
  Amount room_of(const std::string& tenant) const;
  std::optional<Amount> lacks(const std::string& tenant, Amount wanted) const;
  Hold hand_out(const std::string& tenant, Amount taken);
  void give_back(const std::string& tenant, Amount taken);

  const Amount all_;
  mutable std::mutex mutex_;
  Amount used_;
  std::map<std::string, Amount> by_tenant_;
};

// What the node of a step may have.
struct NodeRoom {
  uint64_t most_bytes = 0;
  std::function<NodeBudget::Hold(uint64_t bytes)> reserve;  // as NodeStore::reserve()
};

}  // namespace runtime
