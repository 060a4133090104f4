#include "tools/benchmarks/placement/simulation.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <queue>

namespace placement_bench {
namespace {

constexpr double kStatus = 2.5;   // seconds between two words of a pilot of its speed
constexpr double kLease = 10;     // seconds of silence until its jobs are missed
constexpr double kNewest = 0.05;  // weight of the last job in a pilot's mean

struct JobState {
  double arrived = 0, started = 0;
};

struct PilotState {
  bool is_gone = false;
  unsigned running = 0;
  std::deque<size_t> waiting, at_it;
  double busy_s = 0, mean_us = 0;
};

enum class Kind : uint8_t { kBurst, kEnd, kStatus, kLost, kMissed };

struct Event {
  double when;
  Kind kind;
  size_t what, job;
  bool operator<(const Event& other) const { return when > other.when; }  // the first is on top
};

class Simulation {
 public:
  Simulation(const World& world, Policy& policy)
      : world_(world), policy_(policy), pilots_(world.pilots.size()), jobs_(world.work_s.size()) {
    for (size_t i = 0; i < pilots_.size(); ++i) {
      const PilotPlan& plan = world.pilots[i];
      policy.enter(i, plan.workers);
      if (plan.lost_at >= 0) at(plan.lost_at, Kind::kLost, i);
      at(kStatus * static_cast<double>(i) / static_cast<double>(pilots_.size()), Kind::kStatus, i);
    }
    for (const auto& [when, burst] : world.arrivals) at(when, Kind::kBurst, burst);
  }

  Figures run() {
    while (waits_.size() < jobs_.size()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.when;
      carry_out(event);
      place();
    }
    return sum();
  }

 private:
  void at(double when, Kind kind, size_t what, size_t job = 0) {
    events_.push({when, kind, what, job});
  }

  void carry_out(const Event& event) {
    switch (event.kind) {
      case Kind::kBurst:
        for (size_t i = 0; i < event.what; ++i, ++next_) {
          jobs_[next_].arrived = now_;
          queue_.push_back(next_);
        }
        return;
      case Kind::kEnd:
        return end(event.what, event.job);
      case Kind::kStatus:
        if (pilots_[event.what].is_gone) return;
        policy_.tell(event.what, pilots_[event.what].mean_us);
        return at(now_ + kStatus, Kind::kStatus, event.what);
      case Kind::kLost:
        pilots_[event.what].is_gone = true;
        return at(now_ + (world_.pilots[event.what].is_silent ? kLease : 0), Kind::kMissed,
                  event.what);
      case Kind::kMissed:
        return miss(event.what);
    }
  }

  void place() {
    while (!queue_.empty()) {
      const auto pilot = policy_.choose();
      if (!pilot) return;
      pilots_[*pilot].waiting.push_back(queue_.front());
      queue_.pop_front();
      start_waiting(*pilot);
      tell_count(*pilot);
    }
  }

  void tell_count(size_t which) {
    const PilotState& pilot = pilots_[which];
    policy_.count(which, pilot.running + static_cast<unsigned>(pilot.waiting.size()));
  }

  double time_of(size_t job, size_t pilot) const {
    return world_.work_s[job] / world_.pilots[pilot].speed;
  }

  void start_waiting(size_t which) {
    PilotState& pilot = pilots_[which];
    if (pilot.is_gone) return;
    while (pilot.running < world_.pilots[which].workers && !pilot.waiting.empty()) {
      const size_t job = pilot.waiting.front();
      pilot.waiting.pop_front();
      jobs_[job].started = now_;
      ++pilot.running;
      pilot.at_it.push_back(job);
      at(now_ + time_of(job, which), Kind::kEnd, which, job);
    }
  }

  void end(size_t which, size_t job) {
    PilotState& pilot = pilots_[which];
    if (pilot.is_gone) return;
    const double took_us = time_of(job, which) * 1e6;
    pilot.busy_s += std::max(0.0, std::min(now_, world_.last_arrival()) - jobs_[job].started);
    pilot.mean_us += (pilot.mean_us > 0 ? kNewest : 1) * (took_us - pilot.mean_us);
    --pilot.running;
    std::erase(pilot.at_it, job);
    waits_.push_back(jobs_[job].started - jobs_[job].arrived);
    start_waiting(which);
    tell_count(which);
  }

  void miss(size_t which) {
    PilotState& pilot = pilots_[which];
    policy_.leave(which);
    for (auto* jobs : {&pilot.at_it, &pilot.waiting}) {
      for (const size_t job : *jobs) queue_.push_front(job);
      restarts_ += jobs->size();
      jobs->clear();
    }
  }

  double imbalance() const {
    std::vector<double> shares;
    for (size_t i = 0; i < pilots_.size(); ++i) {
      if (world_.pilots[i].lost_at < 0)
        shares.push_back(pilots_[i].busy_s / world_.pilots[i].workers);
    }
    std::sort(shares.begin(), shares.end(), std::greater<>());
    const auto mean_of_first = [&](size_t count) {
      const auto end = shares.begin() + static_cast<std::ptrdiff_t>(count);
      return std::accumulate(shares.begin(), end, 0.0) / static_cast<double>(count);
    };
    return mean_of_first(std::max<size_t>(1, shares.size() / 10)) / mean_of_first(shares.size()) -
           1;
  }

  Figures sum() {
    std::sort(waits_.begin(), waits_.end());
    const auto at_share = [this](double share) {
      return waits_[static_cast<size_t>(share * static_cast<double>(waits_.size() - 1))];
    };
    const double sum = std::accumulate(waits_.begin(), waits_.end(), 0.0);
    return {.wait_p50 = at_share(0.5),
            .wait_p99 = at_share(0.99),
            .wait_mean = sum / static_cast<double>(waits_.size()),
            .wait_longest = waits_.back(),
            .imbalance = imbalance(),
            .restarts = restarts_};
  }

  const World& world_;
  Policy& policy_;
  std::vector<PilotState> pilots_;
  std::vector<JobState> jobs_;
  std::priority_queue<Event> events_;
  std::deque<size_t> queue_;  // at the router
  std::vector<double> waits_;
  double now_ = 0;
  size_t next_ = 0;
  size_t restarts_ = 0;
};

}  // namespace

Figures simulate(const World& world, Policy& policy) { return Simulation(world, policy).run(); }

}  // namespace placement_bench
