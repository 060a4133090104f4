#include "runtime/cell/rules/standing.h"

#include <catch2/catch.hpp>
#include <optional>

using runtime::Crowd;
using runtime::Standing;
using std::chrono::milliseconds;
using sys::Nanoseconds;

namespace {

constexpr Nanoseconds kBegan = milliseconds(1000);

// After so many ms, with so many ms of CPU time.
bool back(int after, int used, double share) {
  Standing standing;
  standing.begin(kBegan);
  return standing.stands_back(kBegan + milliseconds(after), milliseconds(used), share);
}

}  // namespace

TEST_CASE("standing: who has computed for a while stands back") {
  CHECK(back(20, 20, 1));
  CHECK(back(1000, 990, 1));
}

TEST_CASE("standing: who has used little stays in front, though it had nothing else to do") {
  CHECK_FALSE(back(9, 9, 1));
  CHECK(back(10, 10, 1));
}

TEST_CASE("standing: who had less than its share is not kept from it") {
  CHECK_FALSE(back(1000, 490, 1));
  CHECK(back(1000, 510, 1));
  CHECK_FALSE(back(1000, 120, 0.25));
  CHECK(back(1000, 130, 0.25));
}

TEST_CASE("standing: who waits for something is in front when it comes") {
  CHECK(back(100, 100, 1));
  CHECK_FALSE(back(250, 100, 1));
}

TEST_CASE("standing: what the job before has used is forgotten") {
  Standing standing;
  standing.begin(kBegan);
  REQUIRE(standing.stands_back(kBegan + milliseconds(900), milliseconds(800), 1));
  standing.begin(kBegan + milliseconds(900));
  CHECK_FALSE(standing.stands_back(kBegan + milliseconds(920), milliseconds(9), 1));
}

TEST_CASE("standing: a share is what is left by as many as run") {
  Crowd crowd;
  CHECK(crowd.share() == 1);
  const Crowd::Member first(crowd);
  CHECK(crowd.share() == 1);
  std::optional<Crowd::Member> second(std::in_place, crowd);
  CHECK(crowd.share() == 0.5);
  second.reset();
  CHECK(crowd.share() == 1);
}
