#include "runtime/job/interactive_pair.h"

#include <catch2/catch_test_macros.hpp>

using runtime::InteractivePair;
using std::chrono::seconds;
using sys::Nanoseconds;
using Side = InteractivePair::Side;

TEST_CASE("a side of a conversation is told how long the other has waited, while that one runs",
          "[interactive_pair]") {
  auto pair = InteractivePair::create();
  REQUIRE(pair.ok());
  InteractivePair& both = **pair;
  CHECK(both.waited_by_other(Side::kProgram) == Nanoseconds(0));
  both.begin(Side::kInteractor, [] { return seconds(3); });
  CHECK(both.waited_by_other(Side::kProgram) == seconds(3));
  CHECK(both.waited_by_other(Side::kInteractor) == Nanoseconds(0));
  both.end(Side::kInteractor);
  CHECK(both.waited_by_other(Side::kProgram) == Nanoseconds(0));
}
