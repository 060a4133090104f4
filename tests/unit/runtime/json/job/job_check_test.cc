#include "runtime/json/job/job_check.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "runtime/json/job/job_json.h"
#include "sandbox/sys/units.h"

namespace runtime {
namespace {

Job read_job(const std::string& line) {
  auto job = parse_job(line, {});
  if (!job) FAIL(job.error().text());
  return std::move(job).value();
}

Job script() { return read_job(R"({"source": "1", "tests": [{"stdin": "1"}]})"); }

}  // namespace

TEST_CASE("what JSON can say is a job", "[json]") {
  for (const char* line :
       {R"({"source": ""})", R"({"source": "1", "mode": "call", "func": "f", "inputs": [1]})",
        R"({"source": "1", "files": {"a/b": {"text": "1"}, "e": {"directory": true}},
            "argv": ["1"], "env": {"A": ""}, "outputs": ["**/*"], "deadline_ms": 1,
            "policy": {"require": ["full"]}, "limits": {"file_mb": 0, "outputs_kb": 0}})",
        R"({"source": "1", "tests": [{"expect": "", "compare": "checker"}],
            "checker": {"template": "c", "source": "1"}})"})
    CHECK(objection_to(read_job(line)).empty());
}

TEST_CASE("limits in finer units than a field's are limits", "[json]") {
  Job job = script();
  job.limits.out = job.limits.err = sys::Bytes{10};
  job.limits.memory = sys::kibibytes(1);
  CHECK(objection_to(job).empty());
}

TEST_CASE("what no caller can say is no job, and the field is named", "[json]") {
  using Change = std::function<void(Job&)>;
  const std::pair<const char*, Change> changes[] = {
      {"limits.cpu_ms", [](Job& j) { j.limits.cpu = sys::Milliseconds(-1); }},
      {"limits.wall_ms", [](Job& j) { j.limits.wall = sys::Milliseconds(86'400'001); }},
      {"limits.memory_mb", [](Job& j) { j.limits.memory = {~uint64_t{0} >> 1}; }},
      {"limits.pids", [](Job& j) { j.limits.pids = 1 << 20; }},
      {"determinism.runs", [](Job& j) { j.determinism_runs = 0; }},
      {"determinism.runs", [](Job& j) { j.determinism_runs = 1000; }},
      {"priority", [](Job& j) { j.priority = 101; }},
      {"deadline_ms", [](Job& j) { j.deadline = sys::Milliseconds(-5); }},
      {"template", [](Job& j) { j.template_name = "../x"; }},
      {"template", [](Job& j) { j.template_name.clear(); }},
      {"tag", [](Job& j) { j.tag.assign(1 << 20, '1'); }},
      {"tenant", [](Job& j) { j.tenant.assign(129, 't'); }},
      {"func",
       [](Job& j) {
         j.mode = shim::Mode::kCall;
         j.tests.clear();
       }},
      {"func", [](Job& j) { j.func = "a b"; }},
      {"calls", [](Job& j) { j.calls = "\xff"; }},
      {"argv[0]", [](Job& j) { j.argv = {std::string(1, '\0')}; }},
      {"env",
       [](Job& j) {
         j.env = {{"A=B", "1"}};
       }},
      {"env",
       [](Job& j) {
         j.env = {{"A", std::string(1, '\0')}};
       }},
      {"files",
       [](Job& j) {
         j.files = {{"../x", ""}};
       }},
      {"files",
       [](Job& j) {
         j.files = {{"/x", ""}};
       }},
      {"files",
       [](Job& j) {
         j.files = {{"x", ""}, {"x/y", ""}};
       }},
      {"files", [](Job& j) { j.files = {{.path = "x", .content = "", .blob = "sha256:1"}}; }},
      {"run_files",
       [](Job& j) {
         j.run_files = {{"../x", ""}};
       }},
      {"sources[0]", [](Job& j) { j.sources = {"../x"}; }},
      {"source_name:", [](Job& j) { j.source_name = "../x"; }},
      {"source_name:", [](Job& j) { j.source_name = "/x"; }},
      {"source_names", [](Job& j) { j.source_names = {"../x"}; }},
      {"compiler_flags", [](Job& j) { j.compiler_flags.assign(65, "-O"); }},
      {"outputs[0]", [](Job& j) { j.outputs = {"../*"}; }},
      {"policy.require", [](Job& j) { j.policy.require = {"much"}; }},
      {"source", [](Job& j) { j.source_blob = "x"; }},
      {"tests", [](Job& j) { j.tests.resize(10'001); }},
      {"tests[0].argv[0]", [](Job& j) { j.tests[0].argv = {std::string(1, '\0')}; }},
      {"tests[0].files",
       [](Job& j) {
         j.tests[0].files = {{"..", ""}};
       }},
      {"tests[0]", [](Job& j) { j.tests[0].tolerance = std::nan(""); }},
      {"job", [](Job& j) { j.tests[0].comparator = Comparator::kChecker; }},
      {"checker.files",
       [](Job& j) {
         j.checker.emplace().files = {{"/etc/passwd", ""}};
       }},
      {"checker.limits.cpu_ms",
       [](Job& j) { j.checker.emplace().limits.cpu = sys::Milliseconds(-1); }},
      {"interactor.argv[0]", [](Job& j) { j.interactor.emplace().argv = {std::string(1, '\0')}; }},
      {"execution", [](Job& j) { j.execution.emplace().directory = std::string(1, '\0'); }},
  };
  for (const auto& [field, change] : changes) {
    Job job = script();
    change(job);
    INFO(field << ": " << objection_to(job));
    CHECK(objection_to(job).starts_with(field));
  }
}

TEST_CASE("many files take no quadratic time to look at", "[json]") {
  // Paths of many parts each: each part of each was looked for among all.
  Job job;
  job.source = "1";
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "a/";
  for (int i = 0; i < 3000; ++i) job.files.push_back({deep + std::to_string(i), ""});
  CHECK(objection_to(job).empty());
  job.files.push_back({deep + "7/x", ""});
  CHECK(objection_to(job).starts_with("files"));
}

}  // namespace runtime
