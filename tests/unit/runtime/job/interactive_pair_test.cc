#include "runtime/job/interactive_pair.h"

#include <catch2/catch.hpp>

using runtime::InteractivePair;
using runtime::Waiting;
using std::chrono::seconds;
using sys::Nanoseconds;
using Side = InteractivePair::Side;

TEST_CASE("a side of a conversation is told how long the other has waited, while that one runs",
          "[interactive_pair]") {
  auto pair = InteractivePair::create();
  REQUIRE(pair.ok());
  InteractivePair& both = **pair;
  CHECK(both.waiting_of_other(Side::kProgram).longest == Nanoseconds(0));
  both.begin(Side::kInteractor, [] { return Waiting{seconds(3), seconds(1), 2}; });
  CHECK(both.waiting_of_other(Side::kProgram).longest == seconds(3));
  CHECK(both.waiting_of_other(Side::kProgram).ran == seconds(1));
  CHECK(both.waiting_of_other(Side::kInteractor).longest == Nanoseconds(0));
  both.end(Side::kInteractor);
  CHECK(both.waiting_of_other(Side::kProgram).longest == Nanoseconds(0));
}
