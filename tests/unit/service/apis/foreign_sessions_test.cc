#include "service/apis/foreign_sessions.h"

#include <catch2/catch.hpp>

#include "tests/unit/service/apis/session_scene.h"

namespace service {
namespace {

TEST_CASE("a client of a foreign API begins a session, runs a step and ends it", "[sessions]") {
  SessionScene scene;
  scene.await(scene.begin("a", R"({"limits": {"cpu_ms": 700}})"));
  CHECK(scene.begun.node == "n-1");
  const auto defaults = scene.sessions.defaults_of("a", "n-1");
  REQUIRE(defaults);
  CHECK(defaults->job.limits.cpu == sys::Milliseconds(700));
  scene.await(scene.run("a", "x = 1"));
  REQUIRE(scene.ran.size() == 1);
  CHECK(scene.ran[0].node == "n-2");
  CHECK(scene.ran[0].kept);
  CHECK(scene.engine.templates == std::vector<std::string>{"python", "python"});

  CHECK(scene.sessions.end("a", scene.begun.session));
  CHECK(scene.engine.forgotten == std::vector<std::string>{"n-1", "n-2"});
  CHECK_FALSE(scene.sessions.end("a", scene.begun.session));
  scene.run("a", "x = 2");
  REQUIRE(scene.refusals.size() == 1);
  CHECK(scene.refusals[0].status == 410);
}

TEST_CASE("a step that is not kept leaves the session where it was", "[sessions]") {
  SessionScene scene;
  scene.await(scene.begin("a"));
  scene.await(scene.run("a", "thread"));
  REQUIRE(scene.ran.size() == 1);
  CHECK(scene.ran[0].node == "n-1");
  CHECK_FALSE(scene.ran[0].kept);
  CHECK(scene.ran[0].why_not == "a second thread");
}

TEST_CASE("a client finds no session of another", "[sessions]") {
  SessionScene scene;
  scene.await(scene.begin("a"));
  scene.run("b", "x = 1");
  REQUIRE(scene.refusals.size() == 1);
  CHECK(scene.refusals[0].status == 404);
  CHECK_FALSE(scene.sessions.defaults_of("b", "n-1"));
  CHECK_FALSE(scene.sessions.end("b", scene.begun.session));
  CHECK_FALSE(scene.sessions.leave_out("b", "n-1"));
  CHECK_FALSE(scene.sessions.take_out("b", "n-1"));
  CHECK(scene.engine.forgotten.empty());
}

TEST_CASE("a session that ends withdraws its steps, and what they leave is freed", "[sessions]") {
  SessionScene scene;
  scene.await(scene.begin("a"));
  scene.engine.paused = true;
  const auto ticket = scene.run("a", "x = 1");
  CHECK(scene.sessions.end("a", scene.begun.session));
  CHECK(scene.engine.withdrawn == 1);
  scene.engine.run_all();
  scene.await(ticket);
  REQUIRE(scene.ran.size() == 1);
  CHECK_FALSE(scene.ran[0].kept);
  CHECK(scene.engine.forgotten == std::vector<std::string>{"n-1", "n-2"});
}

TEST_CASE("a node that is gone by then is told with the reason", "[sessions]") {
  SessionScene scene;
  scene.await(scene.begin("a"));
  scene.engine.gone = "it made room";
  scene.await(scene.run("a", "x = 1"));
  REQUIRE(scene.refusals.size() == 1);
  CHECK(scene.refusals[0].status == 410);
  CHECK(scene.refusals[0].why == "it made room");
}

TEST_CASE("what cannot begin a session says why", "[sessions]") {
  SessionScene scene;
  scene.begin("a", R"({"template": "none"})");
  scene.begin("a", R"({"limits": 1})");
  scene.begin("a", R"({"tenant": "b"})");
  scene.await(scene.begin("a", R"({"source": "thread"})"));
  scene.jobs.begin_end();
  scene.begin("a");
  scene.engine.keeps = false;
  scene.begin("a");
  std::vector<int> statuses;
  for (const auto& each : scene.refusals) statuses.push_back(each.status);
  CHECK(statuses == std::vector<int>{400, 400, 403, 422, 503, 501});
}

TEST_CASE("a node that was not wanted, or was left behind, leaves no trace", "[sessions]") {
  SessionScene scene;
  scene.await(scene.begin("a"));
  scene.await(scene.run("a", "x = 1"));
  const size_t steps = scene.keeper.book().steps();
  CHECK(scene.sessions.take_out("a", "n-2"));
  CHECK(scene.keeper.book().steps() == steps - 1);

  scene.await(scene.run("a", "x = 2"));
  scene.begun.node = "n-3";
  scene.await(scene.run("a", "x = 3"));
  CHECK(scene.sessions.leave_out("a", "n-3"));
  CHECK(scene.keeper.book().steps() == steps);
  CHECK(scene.sessions.leave_out("a", "n-1"));  // the first stays in the log
  CHECK(scene.keeper.book().steps() == steps);
  CHECK(scene.engine.forgotten == std::vector<std::string>{"n-2", "n-3", "n-1"});
}

}  // namespace
}  // namespace service
