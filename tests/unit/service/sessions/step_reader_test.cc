#include "service/sessions/step_reader.h"

#include <catch2/catch.hpp>

namespace service {
namespace {

runtime::JobDefaults session_of(const std::string& body) {
  return defaults_behind(read_beginning(body, {})->job);
}

template <typename T>
std::string why_not(const sys::Result<T>& read) {
  return read ? "" : read.error().text();
}

}  // namespace

TEST_CASE("a session begins with a step that needs no source", "[sessions]") {
  for (const char* body : {"", " \n", "{}"}) {
    const auto read = read_beginning(body, {});
    REQUIRE(read.ok());
    CHECK(read->job.session == "new");
    CHECK(read->job.source.empty());
    CHECK(read->body == "{}");
  }
}

TEST_CASE("a step has what its session says, and says the last word itself", "[sessions]") {
  const auto session = session_of(
      R"({"limits": {"cpu_ms": 7, "memory_mb": 100}, "template": "python-numpy", "priority": 3})");
  const auto step = read_step(R"({"source": "1", "limits": {"cpu_ms": 9}})", session, "n-1");
  REQUIRE(step.ok());
  CHECK(step->job.session == "n-1");
  CHECK(step->job.template_name == "python-numpy");
  CHECK(step->job.limits.cpu == std::chrono::milliseconds(9));
  CHECK(step->job.limits.memory == sys::mebibytes(100));
  CHECK(step->job.priority == 3);
}

TEST_CASE("what is in the first node is not said again by each step", "[sessions]") {
  const auto session = session_of(
      R"({"source": "x", "files": {"f": {"text": "1"}}, "env": {"A": "b"}, "stdin": "s", "argv": ["a"], "tag": 1})");
  const auto step = read_step(R"({"source": "1"})", session, "n-1");
  REQUIRE(step.ok());
  CHECK(step->job.files.empty());
  CHECK(step->job.env.empty());
  CHECK(step->job.argv.empty());
  CHECK(step->job.stdin_bytes.empty());
  CHECK(step->job.tag == "null");
}

TEST_CASE("a func makes a step a call, of what an earlier step defined", "[sessions]") {
  const auto step = read_step(R"({"func": "f", "inputs": [1]})", {}, "n-1");
  REQUIRE(step.ok());
  CHECK(step->job.mode == shim::Mode::kCall);
  CHECK(why_not(read_step(R"({"func": "f"})", {}, "n-1")).starts_with("inputs: required"));
  CHECK(why_not(read_step("{}", {}, "n-1")) == "source: required");
}

TEST_CASE("a step of a log reads as the step that it was", "[sessions]") {
  const auto step = read_step(
      R"({ "node": "n-2", "parent": null, "label": "OK", "time": "then", "source" : "1", "tag": [1, 2] })",
      {}, "n-1");
  REQUIRE(step.ok());
  CHECK(step->body == R"({"source":"1","tag":[1,2]})");
}

TEST_CASE("what a request for a step must not say is named", "[sessions]") {
  CHECK(why_not(read_step(R"({"source": "", "session": "n-1"})", {}, "n-1"))
            .starts_with("session: "));
  CHECK(why_not(read_step(R"({"source": "", "tenant": "t"})", {}, "n-1")).starts_with("tenant: "));
  CHECK(why_not(read_step(R"({"source": "", "template": "c"})", {}, "n-1"))
            .starts_with("template: "));
  CHECK(why_not(read_step(R"({"source": "", "source": ""})", {}, "n-1")) == "source: given twice");
  CHECK(why_not(read_beginning(R"({"session": "new"})", {})).starts_with("session: "));
  CHECK(read_beginning(R"({"tenant": "t"})", {}).ok());
  CHECK(why_not(read_step("[]", {}, "n-1")).starts_with("expected an object"));
}

}  // namespace service
