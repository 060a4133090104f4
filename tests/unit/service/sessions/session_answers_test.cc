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

TEST_CASE("a list of sessions says whose they are and when they were used", "[sessions]") {
  auto defaults = std::make_shared<runtime::JobDefaults>();
  defaults->job.template_name = "python";
  Session session{"s-1", "ann", defaults};
  for (const int64_t seconds : {1, 2})
    session.steps[static_cast<uint64_t>(seconds)].when = std::chrono::seconds(seconds);
  CHECK(list_json({.sessions = {&session}, .all = 4}) ==
        R"({"sessions":[{"session":"s-1","tenant":"ann","template":"python","nodes":2,)"
        R"("began":"1970-01-01T00:00:01.000Z","last":"1970-01-01T00:00:02.000Z"}],"more":3})");
  CHECK(list_json({}) == R"({"sessions":[],"more":0})");
}

}  // namespace service
