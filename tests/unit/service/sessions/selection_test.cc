#include "service/sessions/selection.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/values/value.h"

namespace service {
namespace {

using Names = std::vector<std::string>;
using What = Keep::What;

Tried tried(size_t index, std::optional<double> score = {}, bool ok = true) {
  return {.index = index, .node = "n" + std::to_string(index), .ok = ok, .score = score};
}

Names kept(const Selection& selection) {
  Names names;
  for (const Tried& each : selection.kept()) names.push_back(each.node);
  return names;
}

std::string list_of(double number) {
  runtime::Writer out;
  out.container(shim::Tag::kList, 1);
  out.number(number);
  return out.take();
}

}  // namespace

TEST_CASE("all steps are kept in the order of their indexes, however they end", "[sessions]") {
  Selection selection({What::kAll}, Selection::Order::kByIndex);
  for (const size_t index : {2, 0, 1}) CHECK(selection.add(tried(index, {}, index != 0)).empty());
  CHECK(kept(selection) == Names{"n0", "n1", "n2"});
  CHECK(selection.ok() == 2);
  CHECK(selection.ended() == 3);
}

TEST_CASE("of ok those that did not end well go at once, of none all do", "[sessions]") {
  Selection ok({What::kOk}, Selection::Order::kByIndex);
  CHECK(ok.add(tried(0)).empty());
  CHECK(ok.add(tried(1, {}, false)) == Names{"n1"});
  CHECK(kept(ok) == Names{"n0"});

  Selection none({What::kNone}, Selection::Order::kByIndex);
  CHECK(none.add(tried(0)) == Names{"n0"});
  CHECK(kept(none).empty());
}

TEST_CASE("of the best a node goes as soon as enough are better", "[sessions]") {
  Selection selection({What::kBest, 2}, Selection::Order::kByScore);
  CHECK(selection.add(tried(0, 1.0)).empty());
  CHECK(selection.add(tried(1, 3.0)).empty());
  CHECK(selection.add(tried(2, 2.0)) == Names{"n0"});
  CHECK(selection.add(tried(3, 0.5)) == Names{"n3"});
  CHECK(kept(selection) == Names{"n1", "n2"});
}

TEST_CASE("of equal scores the earlier index wins, in whatever order they end", "[sessions]") {
  Selection selection({What::kBest, 1}, Selection::Order::kByScore);
  CHECK(selection.add(tried(5, 1.0)).empty());
  CHECK(selection.add(tried(2, 1.0)) == Names{"n5"});
  CHECK(selection.add(tried(3, 1.0)) == Names{"n3"});
  CHECK(kept(selection) == Names{"n2"});
}

TEST_CASE("a step without a score comes behind every number", "[sessions]") {
  Selection selection({What::kBest, 2}, Selection::Order::kByScore);
  CHECK(selection.add(tried(0, std::nullopt, false)).empty());
  CHECK(selection.add(tried(1)).empty());
  CHECK(selection.add(tried(2, -INFINITY)) == Names{"n1"});
  CHECK(kept(selection) == Names{"n2", "n0"});
}

TEST_CASE("a step that left no node takes nobody's place", "[sessions]") {
  Selection selection({What::kBest, 1}, Selection::Order::kByScore);
  CHECK(selection.add(tried(0, 1.0)).empty());
  CHECK(selection.add({.index = 1, .node = {}, .ok = true, .score = 9.0}).empty());
  CHECK(kept(selection) == Names{"n0"});
  CHECK(selection.ended() == 2);
}

TEST_CASE("a score is a number of one call's, and nothing that looks like one", "[sessions]") {
  CHECK(score_in(list_of(1.5)) == 1.5);
  CHECK(score_in(list_of(INFINITY)) == INFINITY);
  CHECK(score_in(list_of(-INFINITY)) == -INFINITY);
  CHECK_FALSE(score_in(list_of(NAN)));
  CHECK_FALSE(score_in(""));

  runtime::Writer whole, big, truth, text, bare;
  for (runtime::Writer* list : {&whole, &big, &truth, &text}) list->container(shim::Tag::kList, 1);
  whole.integer(-7);
  big.big_integer("100000000000000000000000");
  truth.boolean(true);
  text.text("9");
  bare.integer(9);
  CHECK(score_in(whole.take()) == -7.0);
  CHECK(score_in(big.take()) == 1e23);
  CHECK_FALSE(score_in(truth.take()));
  CHECK_FALSE(score_in(text.take()));
  CHECK_FALSE(score_in(bare.take()));
}

}  // namespace service
