#include "tools/benchmarks/placement/policies.h"

#include <map>
#include <random>
#include <set>
#include <utility>

#include "cluster/router/placement.h"

namespace placement_bench {
namespace {

using cluster::Placement;

constexpr const char* kKey = "python";

class TwoChoices : public Policy {
 public:
  explicit TwoChoices(uint64_t seed) : placement_(seed) {}

  void enter(size_t pilot, unsigned workers) override {
    placement_.add(pilot, {.workers = workers});
    placement_.warm(pilot, kKey);
  }
  void leave(size_t pilot) override { placement_.remove(pilot); }
  void count(size_t pilot, unsigned jobs) override {
    change(pilot, [jobs](Placement::Load& load) { load.ours = jobs; });
  }
  void tell(size_t pilot, double mean_us) override {
    change(pilot, [mean_us](Placement::Load& load) { load.mean_us = mean_us; });
  }
  std::optional<size_t> choose() override {
    return placement_.choose(kKey, [](Placement::Pilot) { return true; });
  }

 private:
  template <class Change>
  void change(size_t pilot, Change&& apply) {
    const Placement::Load* known = placement_.find(pilot);
    if (!known) return;
    Placement::Load load = *known;
    apply(load);
    placement_.set(pilot, load);
  }

  Placement placement_;
};

class Blind : public Policy {
 public:
  void enter(size_t pilot, unsigned) override { there_.push_back(pilot); }
  void leave(size_t pilot) override { std::erase(there_, pilot); }
  void count(size_t, unsigned) override {}
  void tell(size_t, double) override {}

 protected:
  std::vector<size_t> there_;
};

class ByChance : public Blind {
 public:
  explicit ByChance(uint64_t seed) : random_(seed) {}
  std::optional<size_t> choose() override { return there_[random_() % there_.size()]; }

 private:
  std::mt19937_64 random_;
};

class RoundRobin : public Blind {
 public:
  std::optional<size_t> choose() override { return there_[next_++ % there_.size()]; }

 private:
  size_t next_ = 0;
};

class OneQueue : public Policy {
 public:
  explicit OneQueue(const World& world) : world_(world) {}

  void enter(size_t pilot, unsigned workers) override {
    workers_[pilot] = workers;
    count(pilot, 0);
  }
  void leave(size_t pilot) override {
    free_.erase(rank_of(pilot));
    workers_.erase(pilot);
  }
  void count(size_t pilot, unsigned jobs) override {
    const auto found = workers_.find(pilot);
    if (found == workers_.end()) return;
    if (jobs < found->second) {
      free_.insert(rank_of(pilot));
    } else {
      free_.erase(rank_of(pilot));
    }
  }
  void tell(size_t, double) override {}
  std::optional<size_t> choose() override {
    if (free_.empty()) return std::nullopt;
    return free_.begin()->second;
  }

 private:
  using Rank = std::pair<double, size_t>;  // the fastest first
  Rank rank_of(size_t pilot) const { return {-world_.pilots[pilot].speed, pilot}; }

  const World& world_;
  std::map<size_t, unsigned> workers_;
  std::set<Rank> free_;
};

}  // namespace

std::vector<Named> all_policies(const World& world, uint64_t seed) {
  std::vector<Named> all;
  all.push_back({"two choices", std::make_unique<TwoChoices>(seed)});
  all.push_back({"by chance", std::make_unique<ByChance>(seed)});
  all.push_back({"round robin", std::make_unique<RoundRobin>()});
  all.push_back({"one queue", std::make_unique<OneQueue>(world)});
  return all;
}

}  // namespace placement_bench
