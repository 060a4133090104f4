#include "cluster/router/placement.h"

#include <algorithm>

#include "sandbox/sys/result.h"

namespace cluster {

namespace {

// As the engine's own queue: two for each worker, and as many short ones as take this long.
constexpr unsigned kAhead = 2;
constexpr double kBurstUs = 4'000;
constexpr unsigned kMostInBurst = 8;  // for each worker
constexpr int kDraws = 2;
constexpr int kTries = 8;  // to draw one that can run the job
constexpr size_t kMostWarm = 256;

double job_us(const Placement::Load& load) {
  return load.mean_us > 0 ? load.mean_us : Placement::kUsualUs;
}

unsigned jobs_at(const Placement::Load& load) { return load.ours + load.elsewhere; }

}  // namespace

struct Placement::Draw {
  const std::string& key;
  const std::function<bool(Pilot)>& may;
  std::optional<Pilot> best;
  double best_wait = 0, best_fill = 0;
};

void Placement::Set::put(Pilot pilot, bool in) {
  const auto found = index_.find(pilot);
  if ((found != index_.end()) == in) return;
  if (in) {
    index_[pilot] = members_.size();
    return members_.push_back(pilot);
  }
  const size_t hole = found->second;
  members_[hole] = members_.back();
  index_[members_[hole]] = hole;
  members_.pop_back();
  index_.erase(pilot);
}

unsigned Placement::most_at(const Load& load) {
  const double burst = load.mean_us > 0 ? kBurstUs / load.mean_us * load.workers : 0;
  const double most = std::min(burst, static_cast<double>(load.workers * kMostInBurst));
  return load.workers * kAhead + static_cast<unsigned>(most);
}

double Placement::wait_us(const Load& load) {
  const unsigned jobs = jobs_at(load);
  if (jobs < load.workers) return 0;
  return (jobs - load.workers + 1) * job_us(load) / load.workers;
}

// Puts it into the sets, or out of them.
void Placement::file(Pilot pilot, const Load& load, bool present) {
  const bool open = present && load.is_open();
  open_.put(pilot, open);
  free_.put(pilot, open && jobs_at(load) < load.workers);
  if (!load.closed) workers_ = present ? workers_ + load.workers : workers_ - load.workers;
  ours_ = present ? ours_ + load.ours : ours_ - load.ours;
}

void Placement::add(Pilot pilot, const Load& load) {
  VERIFY(!pilots_.contains(pilot) && load.workers > 0);
  pilots_[pilot].load = load;
  file(pilot, load, true);
}

void Placement::remove(Pilot pilot) {
  auto known = pilots_.extract(pilot);
  if (!known) return;
  file(pilot, known.mapped().load, false);
  for (const std::string& key : known.mapped().warm) {
    const auto set = warm_.find(key);
    set->second.put(pilot, false);
    if (set->second.empty()) warm_.erase(set);
  }
}

const Placement::Load* Placement::find(Pilot pilot) const {
  const auto known = pilots_.find(pilot);
  return known == pilots_.end() ? nullptr : &known->second.load;
}

void Placement::set(Pilot pilot, const Load& load) {
  Known& known = pilots_.at(pilot);
  VERIFY(load.workers > 0);
  file(pilot, known.load, false);
  known.load = load;
  file(pilot, load, true);
}

void Placement::warm(Pilot pilot, const std::string& key) {
  const auto known = pilots_.find(pilot);
  if (known == pilots_.end() || known->second.warm.size() >= kMostWarm) return;
  if (known->second.warm.insert(key).second) warm_[key].put(pilot, true);
}

void Placement::consider(Pilot pilot, Draw& draw) {
  const Known& known = pilots_.at(pilot);
  const double cold = known.warm.contains(draw.key) ? 0 : kColdUs;
  const double wait = wait_us(known.load) + cold;
  const double fill = static_cast<double>(jobs_at(known.load)) / known.load.workers;
  const bool better =
      !draw.best || wait < draw.best_wait || (wait == draw.best_wait && fill < draw.best_fill);
  if (!better) return;
  draw.best = pilot;
  draw.best_wait = wait;
  draw.best_fill = fill;
}

void Placement::draw_from(const Set& set, Draw& draw) {
  if (set.empty()) return;
  std::uniform_int_distribution<size_t> any(0, set.size() - 1);
  int drawn = 0;
  for (int tries = 0; tries < kTries && drawn < kDraws; ++tries) {
    const Pilot pilot = set.at(any(random_));
    if (!pilots_.at(pilot).load.is_open() || !draw.may(pilot)) continue;
    consider(pilot, draw);
    ++drawn;
  }
}

void Placement::consider_all(const Set& set, Draw& draw) {
  for (size_t i = 0; i < set.size(); ++i) {
    if (draw.may(set.at(i))) consider(set.at(i), draw);
  }
}

std::optional<Placement::Pilot> Placement::choose(const std::string& key,
                                                  const std::function<bool(Pilot)>& may) {
  Draw draw{key, may, {}};
  draw_from(free_, draw);
  if (const auto warm = warm_.find(key); warm != warm_.end()) draw_from(warm->second, draw);
  draw_from(open_, draw);
  if (!draw.best) consider_all(open_, draw);  // few can run it, and none of them was drawn
  return draw.best;
}

}  // namespace cluster
