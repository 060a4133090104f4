#include <catch2/catch.hpp>

#include "runtime/judging/compare.h"

namespace runtime {
namespace {

bool same(const TokenRules& rules, std::string_view expected, std::string_view got) {
  return !compare(rules, expected, got).has_value();
}

std::string where(const TokenRules& rules, std::string_view expected, std::string_view got) {
  auto found = compare(rules, expected, got);
  return found ? found->where : "";
}

TEST_CASE("rules: as they stand, neither case nor white space counts", "[compare]") {
  const TokenRules plain;
  CHECK(same(plain, "Yes 12\n", "  yES\n12"));
  CHECK(where(plain, "yes 12", "yes 12.0") == "token 2");
  CHECK(where(plain, "yes", "yes no") == "token 2");
  CHECK(where(plain, "yes no", "yes") == "token 2");
  CHECK(same(plain, "", " \n"));
}

TEST_CASE("rules: letters of either case differ when case counts", "[compare]") {
  const TokenRules rules{true, false, {}, {}};
  CHECK(where(rules, "a Yes", "a yes") == "token 2");
  CHECK(same(rules, "a Yes", "a   Yes"));
}

TEST_CASE("rules: white space counts to the last byte when it counts", "[compare]") {
  const TokenRules rules{false, true, {}, {}};
  CHECK(same(rules, "a b\n", "A b\n"));
  CHECK(where(rules, "a b\n", "a  b\n") == "white space before token 2");
  CHECK(where(rules, "a b\n", "a b") == "white space before token 3");
  CHECK(where(rules, "a", " a") == "white space before token 1");
}

TEST_CASE("rules: tolerances are separate, and one of them is enough", "[compare]") {
  const TokenRules absolute{.absolute = 0.1, .relative = {}};
  const TokenRules relative{.absolute = {}, .relative = 0.1};
  const TokenRules both{.absolute = 0.1, .relative = 0.1};
  CHECK(same(absolute, "100", "100.05"));
  CHECK_FALSE(same(absolute, "100", "105"));
  CHECK(same(relative, "100", "105"));
  CHECK_FALSE(same(relative, "0", "0.05"));
  CHECK(same(both, "100 0", "105 0.05"));
  CHECK_FALSE(same(both, "100", "111"));
}

TEST_CASE("what is no number is the same however it is written", "[compare]") {
  const TokenRules rules{.absolute = 1e-6, .relative = 1e-6};
  CHECK(same(rules, "nan", "NaN"));
  CHECK(same(rules, "NAN 1", "nan 1.0000001"));
  CHECK(same(rules, "inf", "Infinity"));
  CHECK_FALSE(same(rules, "nan", "1"));
  CHECK_FALSE(same(rules, "1", "nan"));
  CHECK_FALSE(same(rules, "inf", "-inf"));
  CHECK_FALSE(same(rules, "inf", "5"));
  CHECK_FALSE(same(rules, "5", "inf"));
}

TEST_CASE("rules: where a number is expected, words are none", "[compare]") {
  const TokenRules rules{.absolute = 1e9, .relative = {}};
  CHECK(same(rules, "x 1", "X 2"));
  CHECK_FALSE(same(rules, "1", "one"));
  CHECK_FALSE(same(rules, "1", "nan"));
  CHECK_FALSE(same(rules, "1", "inf"));
  CHECK_FALSE(same(rules, "1", "1x"));
  CHECK_FALSE(same(rules, "one", "1"));
}

}  // namespace
}  // namespace runtime
