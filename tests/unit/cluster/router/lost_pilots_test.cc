#include "cluster/router/lost_pilots.h"

#include <catch2/catch.hpp>

namespace cluster {

TEST_CASE("the newest losses are kept, and all are counted", "[cluster]") {
  using Reason = LostPilots::Reason;
  LostPilots lost;
  lost.add({.name = "first", .reason = Reason::kSilent});
  for (size_t i = 0; i < LostPilots::kMost; ++i) lost.add({.name = std::to_string(i)});
  REQUIRE(lost.all().size() == LostPilots::kMost);
  CHECK(lost.all().front().name == std::to_string(LostPilots::kMost - 1));
  CHECK(lost.all().back().name == "0");
  CHECK(lost.count(Reason::kSilent) == 1);
  CHECK(lost.count(Reason::kDisconnected) == LostPilots::kMost);
  CHECK(lost.count(Reason::kSentAway) == 0);
}

}  // namespace cluster
