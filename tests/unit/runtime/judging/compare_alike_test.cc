#include <catch2/catch.hpp>

#include "runtime/judging/compare.h"

namespace runtime {

namespace {

bool alike(std::string_view expected, std::string_view got) {
  return !compare(Comparator::kAlike, 1e-5, expected, got).has_value();
}

}  // namespace

TEST_CASE("alike: neither case nor blanks at both ends count", "[compare]") {
  CHECK(alike("Yes\nno", "\n  yes \r\nNO\t\n\n"));
  CHECK(alike("", " \n"));
  CHECK(alike("Straße Ä", "strasse ä") == false);
  CHECK(alike("ÄÖ \u0416", "\u00a0äö \u0436\u3000"));
  CHECK_FALSE(alike("a b", "a  b"));
}

TEST_CASE("alike: lines without words count, but at the ends", "[compare]") {
  CHECK(alike("a\n\nb", "\na\n  \nb\n\n"));
  CHECK_FALSE(alike("a\n\nb", "a\nb"));
  CHECK_FALSE(alike("a", "a\nb"));
  CHECK_FALSE(alike("a\nb", "a"));
  CHECK_FALSE(alike("a", ""));
}

TEST_CASE("alike: a line that is a number is compared as one", "[compare]") {
  CHECK(alike("0.333333", "0.33333301"));
  CHECK(alike("1e3", "+1000.000"));
  CHECK(alike("0", "1e-16"));
  CHECK_FALSE(alike("1", "1.00002"));
  CHECK_FALSE(alike("0", "1e-9"));
  CHECK_FALSE(alike("1 2", "1.0 2"));
  CHECK_FALSE(alike("nan", "0"));
}

TEST_CASE("alike: what is no UTF-8 is compared as it would be shown", "[compare]") {
  CHECK(alike("\xff", "\xfe"));
  const auto found = compare(Comparator::kAlike, 0, "x\ny", "x\nz\xff");
  REQUIRE(found);
  CHECK(found->where == "line 2");
  CHECK(found->got == "z\xEF\xBF\xBD");
}

}  // namespace runtime
