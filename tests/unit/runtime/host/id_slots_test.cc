#include "runtime/host/id_slots.h"

#include <catch2/catch.hpp>
#include <set>

namespace runtime {

TEST_CASE("no two cells hold one id at once, and the one free for longest is given next", "[ids]") {
  IdSlots slots(3);
  std::optional<IdSlots::Lease> first = slots.take(), second = slots.take(), third = slots.take();
  REQUIRE((first && second && third));
  CHECK(std::set{first->number(), second->number(), third->number()}.size() == 3);

  CHECK_FALSE(slots.take());
  const uint32_t freed_first = second->number(), freed_last = first->number();
  second.reset();
  first.reset();
  const auto next = slots.take(), after = slots.take();

  REQUIRE((next && after));
  CHECK(next->number() == freed_first);
  CHECK(after->number() == freed_last);
  CHECK_FALSE(slots.take());
}

TEST_CASE("an id that is never given back stays out while all others come round", "[ids]") {
  IdSlots slots(4);
  const auto kept = slots.take();
  REQUIRE(kept);
  for (int round = 0; round < 100; ++round) {
    const auto passing = slots.take();
    REQUIRE(passing);
    CHECK(passing->number() != kept->number());
  }
}

TEST_CASE("a lease that is moved is given back once", "[ids]") {
  IdSlots slots(2);
  IdSlots::Lease holder;
  {
    auto taken = slots.take();
    REQUIRE(taken);
    holder = *std::move(taken);
  }
  const auto other = slots.take();
  REQUIRE(other);
  CHECK(other->number() != holder.number());
  CHECK_FALSE(slots.take());
  holder = IdSlots::Lease();
  CHECK(slots.take());
}

}  // namespace runtime
