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

std::string why_no_try(const std::string& body) { return why_not(read_try(body, {}, {}, "n-1")); }

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

TEST_CASE("a step without a seed gets one, and is read with it again", "[sessions]") {
  auto step = read_step(R"({"source": "1"})", session_of("{}"), "n-1");
  REQUIRE(step.ok());
  give_seed(*step, 77);
  CHECK(step->job.seed == 77);
  CHECK(step->body == R"({"source":"1","seed":77})");
  give_seed(*step, 78);
  CHECK(step->body == R"({"source":"1","seed":77})");
  const auto again = read_step(step->body, session_of("{}"), "n-1");
  REQUIRE(again.ok());
  CHECK(again->job.seed == 77);
  auto first = read_beginning("{}", {});
  REQUIRE(first.ok());
  give_seed(*first, 5);
  CHECK(first->body == R"({"seed":5})");
  const uint64_t drawn = new_seed();
  CHECK(drawn > 0);
  CHECK(drawn <= static_cast<uint64_t>(runtime::FixedMode::kMaxSeed));
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

TEST_CASE("steps to try are read as steps, and objections name their place", "[sessions]") {
  const auto read = read_try(
      R"({"steps": [{"source": "1"}, {"func": "f", "inputs": [2]}], "keep": {"best": 3},
          "score": {"source": "def g(x): return x", "func": "g", "limits": {"cpu_ms": 5}}})",
      session_of(R"({"template": "python-numpy"})"), {}, "n-1");
  REQUIRE(read.ok());
  CHECK(read->steps.size() == 2);
  CHECK(read->keep.what == Keep::What::kBest);
  CHECK(read->keep.best == 3);
  REQUIRE(read->score);
  CHECK(read->score->template_name == "python-numpy");
  CHECK(read->score->session.empty());
  CHECK(read->score->mode == shim::Mode::kCall);

  CHECK(why_no_try(R"({"steps": [{"source": "1"}, {"source": 2}]})")
            .starts_with("steps[1].source: "));
  CHECK(why_no_try(R"({"steps": [{"sauce": ""}]})").starts_with("steps[0]: unknown field sauce"));
  CHECK(
      why_no_try(R"({"steps": [{"source": ""}], "keep": {"best": 0}})").starts_with("keep.best: "));
  CHECK(why_no_try(R"({"steps": [{"source": ""}], "keep": {}})").starts_with("keep: "));
  CHECK(why_no_try(R"({"steps": [{"source": ""}], "keep": {"best": 1}})") ==
        "score: required, by keep.best");
  CHECK(why_no_try(
            R"({"steps": [{"source": ""}], "score": {"source": "", "func": "f", "calls": []}})")
            .starts_with("score.calls: "));
  CHECK(why_no_try(R"({"keep": "all"})") == "steps: required");
}

TEST_CASE("256 steps can be tried at once, and no more", "[sessions]") {
  std::string steps = R"({"source":""})";
  for (int i = 1; i < 256; ++i) steps += R"(,{"source":""})";
  CHECK(why_no_try("{\"steps\":[" + steps + "]}").empty());
  CHECK(why_no_try("{\"steps\":[" + steps + ",{}]}") == "steps: more than 256");
}

}  // namespace service
