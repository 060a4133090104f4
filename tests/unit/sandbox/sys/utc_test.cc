#include "sandbox/sys/utc.h"

#include <catch2/catch.hpp>

using sys::Fraction;
using sys::Milliseconds;
using sys::utc_text;

TEST_CASE("a time is told by its date in UTC", "[utc]") {
  CHECK(utc_text(Milliseconds(0)) == "1970-01-01T00:00:00.000Z");
  CHECK(utc_text(Milliseconds(1764322733250)) == "2025-11-28T09:38:53.250Z");
  CHECK(utc_text(Milliseconds(1764322733005)) == "2025-11-28T09:38:53.005Z");
  CHECK(utc_text(Milliseconds(1764322733999), Fraction::kNone) == "2025-11-28T09:38:53Z");
}

TEST_CASE("a time before 1970 belongs to the second that it is in", "[utc]") {
  CHECK(utc_text(Milliseconds(-1)) == "1969-12-31T23:59:59.999Z");
  CHECK(utc_text(Milliseconds(-1), Fraction::kNone) == "1969-12-31T23:59:59Z");
}
