#include <catch2/catch.hpp>
#include <limits>

#include "runtime/judging/compare.h"
#include "runtime/values/value.h"

namespace runtime {
namespace {

using shim::Tag;

template <typename Build>
std::string value(Build build) {
  Writer writer;
  build(writer);
  return writer.take();
}

std::string integer(int64_t number) {
  return value([number](Writer& w) { w.integer(number); });
}

std::string real(double number) {
  return value([number](Writer& w) { w.number(number); });
}

std::string boolean(bool truth) {
  return value([truth](Writer& w) { w.boolean(truth); });
}

std::string text(std::string_view words) {
  return value([words](Writer& w) { w.text(words); });
}

std::string items(Tag kind, std::initializer_list<std::string> of) {
  return value([&](Writer& w) {
    w.container(kind, static_cast<uint32_t>(of.size()));
    for (const std::string& each : of) w.raw(each);
  });
}

std::string array(const char* dtype, int64_t length, const std::string& list) {
  return value([&](Writer& w) {
    w.array();
    w.text(dtype);
    w.container(Tag::kList, 1);
    w.integer(length);
    w.raw(list);
  });
}

bool equal(const std::string& a, const std::string& b) {
  return !compare_exact_values(a, b, false) && !compare_exact_values(b, a, false);
}

// "where: expected / got"
std::string told(const std::string& expected, const std::string& got) {
  const auto found = compare_exact_values(expected, got, false);
  return found ? found->where + ": " + found->expected + " / " + found->got : "";
}

TEST_CASE("exact values: 1, 1.0 and True differ, and the types are named", "[compare][exact]") {
  CHECK(equal(integer(1), integer(1)));
  CHECK(told(integer(1), real(1)) == "the value: 1 (int) / 1.0 (float)");
  CHECK(told(integer(1), boolean(true)) == "the value: 1 (int) / true (bool)");
  CHECK(told(real(1), boolean(true)) == "the value: 1.0 (float) / true (bool)");
  CHECK(told(integer(1), integer(2)) == "the value: 1 / 2");
  CHECK(told(text("1"), integer(1)) == "the value: \"1\" (str) / 1 (int)");
}

TEST_CASE("exact values: nan is nan, and a zero has a sign", "[compare][exact]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(equal(real(nan), real(-nan)));
  CHECK_FALSE(equal(real(nan), real(0)));
  CHECK(told(real(0.0), real(-0.0)) == "the value: 0.0 / -0.0");
  const auto complex = [](double real_part) {
    return value([real_part](Writer& w) { w.complex(real_part, 1); });
  };
  CHECK(equal(complex(nan), complex(nan)));
  CHECK_FALSE(equal(complex(0.0), complex(-0.0)));
}

TEST_CASE("exact values: kinds of containers differ, and an item may be missing",
          "[compare][exact]") {
  const std::string list = items(Tag::kList, {integer(1), integer(2)});
  const std::string tuple = items(Tag::kTuple, {integer(1), integer(2)});

  CHECK(told(list, tuple) ==
        "the value: [1,2] (list) / {\"$type\":\"tuple\",\"items\":[1,2]} (tuple)");
  CHECK(told(list, items(Tag::kList, {integer(1), real(2)})) == "[1]: 2 (int) / 2.0 (float)");
  CHECK(told(list, items(Tag::kList, {integer(1)})) == "[1]: 2 / missing");
  CHECK(told(items(Tag::kList, {}), list) == "[0]: missing / 1");
  CHECK_FALSE(equal(items(Tag::kSet, {integer(1)}), items(Tag::kFrozenSet, {integer(1)})));
}

TEST_CASE("exact values: the order of a dict does not count, the types of its keys do",
          "[compare][exact]") {
  const auto dict = [](std::initializer_list<std::pair<std::string, std::string>> pairs) {
    return value([&](Writer& w) {
      w.container(Tag::kDict, static_cast<uint32_t>(pairs.size()));
      for (const auto& [key, item] : pairs) w.raw(key), w.raw(item);
    });
  };
  CHECK(equal(dict({{text("a"), integer(1)}, {text("b"), integer(2)}}),
              dict({{text("b"), integer(2)}, {text("a"), integer(1)}})));
  CHECK(told(dict({{text("a"), integer(1)}}), dict({{text("b"), integer(1)}})) ==
        "[\"a\"]: 1 / missing");
  CHECK(told(dict({{text("a"), integer(1)}}), dict({})) == "[\"a\"]: 1 / missing");
  CHECK(told(dict({{integer(1), text("x")}}), dict({{real(1), text("x")}})).find("missing") !=
        std::string::npos);
}

TEST_CASE("exact values: dtype and shape of an array count, unless arrays are lists",
          "[compare][exact]") {
  const std::string pair = items(Tag::kList, {integer(1), integer(2)});
  const std::string wide = array("int64", 2, pair), narrow = array("int32", 2, pair);

  CHECK(equal(wide, array("int64", 2, pair)));
  const auto found = compare_exact_values(wide, narrow, false);
  REQUIRE(found);
  CHECK(found->expected.ends_with("(ndarray of int64, shape [2])"));
  CHECK(found->got.ends_with("(ndarray of int32, shape [2])"));
  CHECK_FALSE(equal(wide, pair));
  CHECK_FALSE(compare_exact_values(pair, narrow, true));
  const auto item = compare_exact_values(
      pair, array("int32", 2, items(Tag::kList, {integer(1), integer(3)})), true);
  REQUIRE(item);
  CHECK(item->where == "[1]");
}

TEST_CASE("exact values: long texts are shown where they differ", "[compare][exact]") {
  const std::string same(500, 'x');

  const auto found = compare_exact_values(text(same + "é1"), text(same + "é2"), false);

  REQUIRE(found);
  CHECK(found->expected == "..." + same.substr(0, 18) + "é1\"");
  CHECK(found->got == "..." + same.substr(0, 18) + "é2\"");
}

}  // namespace
}  // namespace runtime
