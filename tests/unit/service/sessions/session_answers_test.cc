#include "service/sessions/session_answers.h"

#include <catch2/catch.hpp>

namespace service {

TEST_CASE("a result says where the session is, and what was run again for it", "[sessions]") {
  CHECK(step_result("n-2", "n-1", 0, R"({"id":"a"})") ==
        R"({"node":"n-2","parent":"n-1","id":"a"})");
  CHECK(step_result("n-2", "n-1", 3, "{}") == R"({"node":"n-2","parent":"n-1","replayed":3})");
  CHECK(step_result("", "", 0, "{}") == R"({"node":null,"parent":null})");
}

TEST_CASE("a node that was made anew is told by the name that its client knows", "[sessions]") {
  CHECK_FALSE(renaming("n-1", "n-1"));
  const auto rename = renaming("n-1", "n-new");
  runtime::JobResult result;
  rename(result);
  CHECK_FALSE(result.step);
  result.step = {.node = "n-2", .parent = "n-new", .kept = true, .why_not = "", .bytes = 1};
  rename(result);
  CHECK(result.step->node == "n-2");
  CHECK(result.step->parent == "n-1");
  result.step = {.node = "n-new", .parent = "n-new", .kept = false, .why_not = "why", .bytes = 0};
  rename(result);
  CHECK(result.step->node == "n-1");
}

}  // namespace service
