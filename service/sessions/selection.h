#pragma once
// Selection: which of the steps that were tried at a node are kept. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace service {

struct Keep {
  enum class What : uint8_t { kAll, kOk, kNone, kBest };
  What what = What::kAll;
  size_t best = 0;  // of kBest: so many
};

// A step that was tried.
struct Tried {
  size_t index = 0;  // in its request
  std::string node;  // empty: it left none
  bool ok = false;
  std::optional<double> score;  // none: it has none, so it comes behind those that do
};

class Selection {
 public:
  enum class Order : uint8_t { kByIndex, kByScore };
  Selection(Keep keep, Order order) : keep_(keep), order_(order) {}

  // Could its node be kept?
  bool wants(const Tried& tried) const;
  // The nodes that are not kept, now that this step has ended, too: perhaps its own.
  std::vector<std::string> add(Tried tried);
  // Those whose nodes are kept, the best first.
  const std::vector<Tried>& kept() const { return kept_; }
  size_t ended() const { return ended_; }
  size_t ok() const { return ok_; }

 private:
  bool comes_before(const Tried& a, const Tried& b) const;

  const Keep keep_;
  const Order order_;
  std::vector<Tried> kept_;
  size_t ended_ = 0, ok_ = 0;
};

// The score that a program gave: the list of results (value format) of one call. A number, which
// may be infinite; no boolean, and no nan.
std::optional<double> score_in(std::string_view value);

}  // namespace service
