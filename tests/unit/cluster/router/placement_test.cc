#include "cluster/router/placement.h"

#include <catch2/catch.hpp>
#include <map>

using cluster::Placement;

namespace {

bool anybody(Placement::Pilot) { return true; }

}  // namespace

TEST_CASE("a pilot with a free worker is preferred", "[cluster]") {
  Placement placement(1);
  for (Placement::Pilot pilot = 1; pilot <= 50; ++pilot)
    placement.add(pilot, {.workers = 2, .ours = pilot == 33 ? 1u : 2u, .mean_us = 1000});
  for (int i = 0; i < 20; ++i) CHECK(placement.choose("python", anybody) == 33u);
}

TEST_CASE("jobs of other routers count", "[cluster]") {
  Placement placement(1);
  placement.add(1, {.workers = 2, .elsewhere = 40, .mean_us = 1000});
  placement.add(2, {.workers = 2, .ours = 1, .mean_us = 1000});
  for (int i = 0; i < 20; ++i) CHECK(placement.choose("python", anybody) == 2u);
}

TEST_CASE("a warm template is worth a wait, but not any wait", "[cluster]") {
  Placement placement(1);
  placement.add(1, {.workers = 1, .ours = 1, .mean_us = 1000});
  placement.add(2, {.workers = 1});
  placement.warm(1, "python");
  CHECK(placement.choose("python", anybody) == 1u);
  CHECK(placement.choose("ruby", anybody) == 2u);
  placement.set(1, {.workers = 1, .ours = 1, .mean_us = 400'000});
  CHECK(placement.choose("python", anybody) == 2u);
}

TEST_CASE("nobody gets more than can begin soon", "[cluster]") {
  Placement placement(1);
  placement.add(1, {.workers = 2, .ours = 4, .mean_us = 1'000'000});
  CHECK_FALSE(placement.choose("python", anybody));
  placement.set(1, {.workers = 2, .ours = 4, .mean_us = 1000});  // they are short
  CHECK(placement.choose("python", anybody) == 1u);
  placement.set(1, {.workers = 2, .ours = 4 + 8, .mean_us = 1000});
  CHECK_FALSE(placement.choose("python", anybody));
}

TEST_CASE("a pilot that drains, is silent or has given a job back gets none", "[cluster]") {
  Placement placement(1);
  placement.add(1, {.workers = 2, .closed = true});
  placement.add(2, {.workers = 2, .full = true});
  CHECK_FALSE(placement.choose("python", anybody));
  CHECK(placement.workers() == 2);
  placement.set(1, {.workers = 2});
  CHECK(placement.choose("python", anybody) == 1u);
}

TEST_CASE("the one pilot of a thousand that can run a job is found", "[cluster]") {
  Placement placement(1);
  for (Placement::Pilot pilot = 1; pilot <= 1000; ++pilot) placement.add(pilot, {.workers = 2});
  const auto only = [](Placement::Pilot pilot) { return pilot == 777; };
  CHECK(placement.choose("ruby", only) == 777u);
  placement.remove(777);
  CHECK_FALSE(placement.choose("ruby", only));
}

TEST_CASE("what pilots have is counted", "[cluster]") {
  Placement placement(1);
  placement.add(1, {.workers = 2});
  placement.add(2, {.workers = 3, .ours = 1});
  CHECK(placement.workers() == 5);
  CHECK(placement.ours() == 1);
  placement.warm(2, "python");
  placement.remove(2);
  placement.remove(2);
  CHECK(placement.workers() == 2);
  CHECK(placement.ours() == 0);
  CHECK(placement.size() == 1);
  CHECK(placement.choose("python", anybody) == 1u);
}

TEST_CASE("equal pilots get equal shares", "[cluster]") {
  Placement placement(7);
  std::map<Placement::Pilot, unsigned> ours;
  for (Placement::Pilot pilot = 1; pilot <= 8; ++pilot) {
    placement.add(pilot, {.workers = 100, .mean_us = 1000});
    placement.warm(pilot, "python");
  }
  for (int i = 0; i < 800; ++i) {
    const auto pilot = placement.choose("python", anybody);
    REQUIRE(pilot);
    Placement::Load load = *placement.find(*pilot);
    ours[*pilot] = ++load.ours;
    placement.set(*pilot, load);
  }
  for (const auto& [pilot, jobs] : ours) {
    CHECK(jobs >= 90);
    CHECK(jobs <= 110);
  }
}
