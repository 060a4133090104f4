#include "tools/benchmarks/placement/world.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace placement_bench {
namespace {

using Random = std::mt19937_64;

double make_pilots(const Setting& setting, Random& random, World& world) {
  std::lognormal_distribution<double> speed(0, 0.4);
  std::uniform_real_distribution<double> chance(0, 1);
  double capacity = 0;
  world.pilots.resize(setting.pilots);
  for (PilotPlan& pilot : world.pilots) {
    pilot.workers = 2u << (random() % 4);  // 2 to 16
    pilot.speed = std::clamp(speed(random), 0.3, 3.0);
    if (chance(random) < setting.slow) pilot.speed /= 10;
    capacity += pilot.workers * pilot.speed;
  }
  return capacity;
}

void plan_losses(const Setting& setting, double end, Random& random, World& world) {
  std::uniform_real_distribution<double> chance(0, 1);
  for (PilotPlan& pilot : world.pilots) {
    if (chance(random) >= setting.lost) continue;
    pilot.lost_at = chance(random) * end;
    pilot.is_silent = chance(random) < 0.5;
  }
}

// Of 32 to 4,096 jobs, as the batches of trainers are.
void plan_bursts(const Setting& setting, double end, Random& random, World& world) {
  std::vector<size_t> bursts;
  for (size_t left = setting.jobs; left > 0;) {
    const size_t size = std::min<size_t>(left, size_t{32} << (random() % 8));
    bursts.push_back(size);
    left -= size;
  }
  std::exponential_distribution<double> gap(static_cast<double>(bursts.size()) / end);
  double now = 0;
  for (const size_t burst : bursts) world.arrivals.emplace_back(now += gap(random), burst);
}

}  // namespace

World make_world(const Setting& setting) {
  Random random(setting.seed);
  World world;
  const double capacity = make_pilots(setting, random, world);
  std::lognormal_distribution<double> work(0, 1);
  world.work_s.resize(setting.jobs);
  for (double& each : world.work_s) each = setting.job_s * std::clamp(work(random), 0.05, 20.0);
  const double total = std::accumulate(world.work_s.begin(), world.work_s.end(), 0.0);
  const double end = total / (capacity * setting.load);
  plan_losses(setting, end, random, world);
  plan_bursts(setting, end, random, world);
  return world;
}

}  // namespace placement_bench
