#include "cluster/router/assignments.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

using cluster::Assignments;
using Place = Assignments::Place;

TEST_CASE("the first verdict counts, and the others are doubles", "[cluster]") {
  Assignments all;
  const auto first = all.assign(7, 1);
  REQUIRE(all.began(first) == 7u);
  REQUIRE(all.lapsed(1).again == std::vector<Assignments::Task>{7});
  const auto second = all.assign(7, 2);
  std::vector<Place> others;
  SECTION("of the pilot that has it now") {
    REQUIRE(all.ended(second, others) == 7u);
    CHECK(others == std::vector<Place>{{1, first}});
    CHECK_FALSE(all.ended(first, others));
  }
  SECTION("of the one that was silent") {
    REQUIRE(all.ended(first, others) == 7u);
    CHECK(others == std::vector<Place>{{2, second}});
    CHECK_FALSE(all.ended(second, others));
  }
  CHECK(all.doubles() == 1);
  CHECK(all.restarts() == 1);
  CHECK(all.size_of(1) == 0);
  CHECK(all.size_of(2) == 0);
}

TEST_CASE("what has begun at a pilot is told apart", "[cluster]") {
  Assignments all;
  const auto first = all.assign(7, 1);
  all.assign(8, 1);
  CHECK(all.begun_of(1) == 0);
  all.began(first);
  CHECK(all.begun_of(1) == 1);
  std::vector<Place> others;
  all.ended(first, others);
  CHECK(all.begun_of(1) == 0);
  CHECK(all.begun_of(2) == 0);
}

TEST_CASE("a job that was lost while it ran is given up after some times", "[cluster]") {
  Assignments all;
  for (unsigned i = 1; i < Assignments::kMostLosses; ++i) {
    all.began(all.assign(7, i));
    const auto lost = all.lost(i);
    CHECK(lost.again == std::vector<Assignments::Task>{7});
    CHECK(lost.given_up.empty());
  }
  all.began(all.assign(7, 99));
  const auto lost = all.lost(99);
  CHECK(lost.again.empty());
  CHECK(lost.given_up == std::vector<Assignments::Task>{7});
}

TEST_CASE("a job that had not begun is started again as often as it takes", "[cluster]") {
  Assignments all;
  for (unsigned i = 1; i < 20; ++i) {
    all.assign(7, i);
    CHECK(all.lost(i).again == std::vector<Assignments::Task>{7});
  }
}

TEST_CASE("a lapse and then the end of its connection are one loss", "[cluster]") {
  Assignments all;
  all.began(all.assign(7, 1));
  CHECK(all.lapsed(1).again.size() == 1);
  CHECK(all.lapsed(1).again.empty());
  all.assign(7, 2);
  CHECK(all.lost(1).again.empty());  // the second has it
  CHECK(all.restarts() == 1);
  CHECK(all.lost(2).again.size() == 1);
}

TEST_CASE("what is given back is placed anew, unless somebody else has it", "[cluster]") {
  Assignments all;
  const auto first = all.assign(7, 1);
  CHECK(all.returned(first) == 7u);
  CHECK_FALSE(all.returned(first));
  const auto second = all.assign(7, 1);
  all.lapsed(1);
  all.assign(7, 2);
  CHECK_FALSE(all.returned(second));
}

// Pilots that end, fall silent, speak again, give back and answer late, at random: each task has
// one verdict, and nothing is left behind.
TEST_CASE("every task has one verdict in random histories", "[cluster]") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](unsigned n) {
      return std::uniform_int_distribution<unsigned>(0, n - 1)(random);
    };
    Assignments all;
    std::map<Assignments::Task, unsigned> verdicts;
    std::vector<std::pair<Assignments::Number, Assignments::Pilot>> starts;
    std::set<Assignments::Pilot> pilots{1, 2, 3};
    Assignments::Pilot next = 4;
    const auto some_pilot = [&] {
      auto it = pilots.begin();
      std::advance(it, below(static_cast<unsigned>(pilots.size())));
      return *it;
    };
    const auto place = [&](Assignments::Task task) {
      const auto pilot = some_pilot();
      starts.emplace_back(all.assign(task, pilot), pilot);
    };
    const auto recover = [&](const Assignments::Lost& lost) {
      for (const auto task : lost.again) place(task);
      for (const auto task : lost.given_up) {
        ++verdicts[task];
        all.drop(task);
      }
    };
    for (Assignments::Task task = 1; task <= 40; ++task) {
      verdicts[task] = 0;
      place(task);
    }
    const auto answer = [&](size_t index) {
      std::vector<Place> others;
      const auto [number, pilot] = starts[index];
      if (!pilots.contains(pilot)) return;  // its connection is gone, and so is its answer
      if (const auto task = all.ended(number, others)) ++verdicts[*task];
    };
    for (unsigned step = 0; step < 400; ++step) {
      const size_t index = below(static_cast<unsigned>(starts.size()));
      switch (below(8)) {
        case 0: {
          const auto pilot = some_pilot();
          pilots.erase(pilot);
          pilots.insert(next++);
          recover(all.lost(pilot));
          break;
        }
        case 1:
          recover(all.lapsed(some_pilot()));
          break;
        case 2:
          if (pilots.contains(starts[index].second)) {
            if (const auto task = all.returned(starts[index].first)) place(*task);
          }
          break;
        case 3:
          all.began(starts[index].first);
          break;
        default:
          answer(index);
      }
    }
    for (size_t index = 0; index < starts.size(); ++index) answer(index);
    for (const auto& [task, count] : verdicts) {
      INFO("seed " << seed << ", task " << task);
      REQUIRE(count == 1);
      REQUIRE(all.places_of(task).empty());
    }
    for (const auto pilot : pilots) REQUIRE(all.size_of(pilot) == 0);
  }
}
