// The router's choice of pilots, in a small world in virtual time.

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "tools/benchmarks/placement/policies.h"
#include "tools/benchmarks/placement/simulation.h"
#include "tools/benchmarks/placement/world.h"

namespace placement_bench {
namespace {

std::map<std::string, Figures> all_figures(const Setting& setting) {
  const World world = make_world(setting);
  std::map<std::string, Figures> all;
  for (auto& [name, policy] : all_policies(world, setting.seed))
    all[name] = simulate(world, *policy);
  return all;
}

}  // namespace

TEST_CASE("placement: two choices wait hardly longer than one queue, and far less than by chance",
          "[placement_bench]") {
  auto all = all_figures({.pilots = 500, .jobs = 60'000, .load = 0.85, .lost = 0.02});
  const Figures& ours = all["two choices"];
  INFO("p99: " << ours.wait_p99 << ", one queue " << all["one queue"].wait_p99 << ", by chance "
               << all["by chance"].wait_p99);
  CHECK(ours.wait_p99 < 5 * all["one queue"].wait_p99);
  CHECK(ours.wait_p99 < all["by chance"].wait_p99 / 10);
  CHECK(ours.wait_p99 < all["round robin"].wait_p99 / 10);
  CHECK(ours.imbalance < all["by chance"].imbalance);
  CHECK(ours.restarts > 0);
}

TEST_CASE("placement: a world is the same for the same seed, and its policies too",
          "[placement_bench]") {
  const Setting setting{.pilots = 50, .jobs = 5'000, .seed = 3};
  CHECK(all_figures(setting)["two choices"].wait_mean ==
        all_figures(setting)["two choices"].wait_mean);
  const World world = make_world(setting);
  size_t arriving = 0;
  for (const auto& [when, jobs] : world.arrivals) arriving += jobs;
  CHECK(arriving == setting.jobs);
}

}  // namespace placement_bench
