#include "runtime/judging/compare.h"

#include <catch2/catch.hpp>

namespace runtime {
namespace {

bool same(Comparator comparator, std::string_view expected, std::string_view got,
          double tolerance = 0) {
  return !compare(comparator, tolerance, expected, got).has_value();
}

std::string where(Comparator comparator, std::string_view expected, std::string_view got) {
  auto found = compare(comparator, 0, expected, got);
  return found ? found->where : "";
}

TEST_CASE("exact: byte for byte", "[compare]") {
  CHECK(same(Comparator::kExact, "a\nb\n", "a\nb\n"));
  CHECK(where(Comparator::kExact, "a\nb\n", "a\nc\n") == "line 2");
  CHECK(where(Comparator::kExact, "a\n", "a") == "line 1");
  CHECK_FALSE(same(Comparator::kExact, "a", "a\n"));
  CHECK_FALSE(same(Comparator::kExact, "a ", "a"));
  CHECK_FALSE(same(Comparator::kExact, "", "x"));
  CHECK(same(Comparator::kExact, "", ""));
}

TEST_CASE("lines: blanks at the ends do not count, those inside do", "[compare]") {
  CHECK(same(Comparator::kLines, "a b\nc\n", "a b  \r\nc\n\n\n"));
  CHECK(same(Comparator::kLines, "", "\n \n"));
  CHECK(where(Comparator::kLines, "a b", "a  b") == "line 1");
  CHECK(where(Comparator::kLines, "a\n\nb", "a\nb") == "line 2");
  CHECK_FALSE(same(Comparator::kLines, "a", " a"));
  CHECK_FALSE(same(Comparator::kLines, "a\nb", "a"));
}

TEST_CASE("tokens: white space does not count", "[compare]") {
  CHECK(same(Comparator::kTokens, "1 2 3", "\n1\t2\r\n3  "));
  CHECK(where(Comparator::kTokens, "1 2 3", "1 2") == "token 3");
  CHECK(where(Comparator::kTokens, "1 2", "1 2 3") == "token 3");
  CHECK_FALSE(same(Comparator::kTokens, "12", "1 2"));
}

TEST_CASE("float: numbers within a tolerance, absolute or relative", "[compare]") {
  CHECK(same(Comparator::kFloat, "3.14159", "3.1415900001", 1e-6));
  CHECK(same(Comparator::kFloat, "1e9", "1000000001", 1e-6));
  CHECK(same(Comparator::kFloat, "x 0", "x 1e-9", 1e-6));
  CHECK(same(Comparator::kFloat, "+1", "1.0", 0));
  CHECK_FALSE(same(Comparator::kFloat, "1", "1.01", 1e-3));
  CHECK_FALSE(same(Comparator::kFloat, "1", "nan", 1e9));
  CHECK_FALSE(same(Comparator::kFloat, "1", "one", 1e9));
  CHECK_FALSE(same(Comparator::kFloat, "1", "1x", 1));
  CHECK_FALSE(same(Comparator::kFloat, "inf", "1", 1e-6));
  CHECK_FALSE(same(Comparator::kFloat, "1", "inf", 1e-6));
}

TEST_CASE("json: keys in any order, numbers in any notation", "[compare]") {
  CHECK(same(Comparator::kJson, R"({"a": 1, "b": [1.0, "x"]})", R"({"b":[1,"x"],"a":1e0})"));
  CHECK(where(Comparator::kJson, R"([[1, 2], [3]])", R"([[1, 2], [4]])") == "[1][0]");
  CHECK(where(Comparator::kJson, R"({"a": 1})", R"({"b": 1})") == R"(["a"])");
  CHECK(where(Comparator::kJson, "[1]", "[1") == "the output");
  CHECK_FALSE(same(Comparator::kJson, "[1]", "1"));
  CHECK_FALSE(same(Comparator::kJson, "\"1\"", "1"));
  CHECK_FALSE(same(Comparator::kJson, "true", "1"));
  CHECK_FALSE(same(Comparator::kJson, "9007199254740993", "9007199254740992"));
  CHECK(same(Comparator::kJson, "[0.1]", "[0.10000001]", 1e-6));
  CHECK_FALSE(same(Comparator::kJson, std::string(100000, '['), std::string(100000, '[')));
}

TEST_CASE("what differs is shown, cut short and as text", "[compare]") {
  auto found = compare(Comparator::kExact, 0, "a", std::string(1000, '\xff'));
  REQUIRE(found);
  CHECK(found->expected == "a");
  CHECK(found->got.size() < 300);
  CHECK(found->got.ends_with("..."));
}

TEST_CASE("comparators have names", "[compare]") {
  CHECK(comparator_named("exact")->comparator == Comparator::kExact);
  CHECK(comparator_named("float:1e-6")->tolerance == 1e-6);
  for (const char* wrong :
       {"", "Exact", "float", "float:", "float:x", "float:-1", "float:inf", "float:nan"}) {
    INFO(wrong);
    CHECK_FALSE(comparator_named(wrong));
  }
}

}  // namespace
}  // namespace runtime
