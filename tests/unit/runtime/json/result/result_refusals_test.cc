#include <catch2/catch.hpp>
#include <string>

#include "runtime/json/job/job_tests.h"
#include "runtime/json/result/result_reader.h"
#include "tests/unit/runtime/json/result/results.h"

namespace runtime {
namespace {

// The line with its first `from` replaced.
std::string changed(std::string line, const std::string& from, const std::string& to) {
  const size_t at = line.find(from);
  INFO(from);
  REQUIRE(at != line.npos);
  return line.replace(at, from.size(), to);
}

std::string error_of(const std::string& line) {
  INFO(line);
  const auto read = parse_result(line);
  REQUIRE_FALSE(read.ok());
  return read.error().text();
}

struct Change {
  std::string from, to, error;
};

}  // namespace

TEST_CASE("what is said twice must agree, and the error says what was expected",
          "[result][reader][errors]") {
  const std::string line = line_of(whole_result());
  for (const auto& [from, to, error] : std::initializer_list<Change>{
           {R"("ok":false)", R"("ok":true)", "ok: expected false, by label"},
           {R"("cpu_ms":1)", R"("cpu_ms":2)", "usage.cpu_ms: expected 1, by cpu_us"},
           {R"("wall_ms":2)", R"("wall_ms":1)", "usage.wall_ms: expected 2, by wall_us"},
           {R"("lossy":false)", R"("lossy":true)",
            "stdout.lossy: expected false, by text, which has no U+FFFD"},
           {R"("same":false)", R"("same":true)", "determinism.axis: expected none, by same"},
           {R"("axis":"value","where":"[0]"})", R"("axis":"value"})",
            "determinism.where: required, by same"},
           {R"("text":"text","bytes":4)", R"("text":"text","bytes":5)",
            R"(outputs["a/b"].bytes: expected 4, by the content)"},
           {R"("treatment":"allowed")", R"("treatment":"allowed","errno":1)",
            "observed[0].errno: expected none, by treatment"},
           {R"("errno":38,)", "", "observed[1].errno: required, by treatment"},
           {R"("code":null)", R"("code":1)", "exit.signal: expected null beside a code"},
           {R"("enforced")",
            R"("summary":{"total":0,"passed":0,"failed":0,"skipped":0},"enforced")",
            "summary: expected none, by tests"}}) {
    CHECK(error_of(changed(line, from, to)) == error);
  }
}

TEST_CASE("a summary says what its tests come to", "[result][reader][errors]") {
  const std::string line = line_of(result_with_tests());
  for (const auto& [from, to, error] : std::initializer_list<Change>{
           {R"("total":3)", R"("total":2)", "summary.total: expected 3, by tests"},
           {R"("passed":1)", R"("passed":0)", "summary.passed: expected 1, by tests"},
           {R"("failed":1)", R"("failed":2)", "summary.failed: expected 1, by tests"},
           {R"("skipped":1)", R"("skipped":0)", "summary.skipped: expected 1, by tests"},
           {R"("score":1.75)", R"("score":2.75)", "summary.score: expected 1.75, by tests"},
           {R"(,"score":1.75)", "", "summary.score: expected 1.75, by tests"},
           {R"("summary")", R"("summery")", "summary: required, by tests"}}) {
    CHECK(error_of(changed(line, from, to)) == error);
  }
}

TEST_CASE("a test that was skipped has its name alone, and another one all of a run",
          "[result][reader][errors]") {
  const std::string line = line_of(result_with_tests());
  for (const auto& [from, to, error] : std::initializer_list<Change>{
           {R"("skipped":true)", R"("skipped":false)", "tests[2].skipped: expected true"},
           {R"("skipped":true)", R"("skipped":true,"score":1)",
            "tests[2].score: expected none, by skipped"},
           {R"("skipped":true)", R"("skipped":true,"label":"OK")",
            "tests[2].label: expected none, by skipped"},
           {R"("name":"third",)", "", "tests[2].name: required"},
           {R"("name":"first","label":"OK",)", R"("name":"first",)", "tests[0].label: required"},
           {R"("label":"OK","by":"program","ok":true)", R"("label":"OK","by":"program","ok":false)",
            "tests[0].ok: expected true, by label"}}) {
    CHECK(error_of(changed(line, from, to)) == error);
  }
}

TEST_CASE("a member of the wrong kind is an error that names it", "[result][reader][errors]") {
  const std::string line = line_of(whole_result());
  for (
      const auto& [from, to, error] : std::initializer_list<Change>{
          {R"("label":"NonDeterministicCode")", R"("label":"")", "label: expected a label"},
          {R"("label":"NonDeterministicCode")", R"("label":7)", "label: expected a string, got 7"},
          {R"("by":"policy")", R"("by":"me")",
           R"(by: expected one of "program", "limit", "policy", "caller", "sandbox", got "me")"},
          {R"("ok":false)", R"("ok":0)", "ok: expected true or false, got 0"},
          {R"("axis":"value","n")", R"("axis":[],"n")",
           R"(detail["axis"]: expected a string, a number, a boolean or null, got a list)"},
          {R"("n":-1)", R"("n":9223372036854775808)",
           R"(detail["n"]: expected a number from -9223372036854775808 to 9223372036854775807, )"
           "got 9223372036854775808"},
          {R"("signal":"SIGKILL")", R"("signal":"KILL")",
           "exit.signal: expected the name of a signal"},
          {R"("signal":"SIGKILL")", R"("signal":"signal 09")",
           "exit.signal: expected the name of a signal"},
          {R"({"code":null)", R"({"code":2147483648)",
           "exit.code: expected a number from -2147483648 to 2147483647, got 2147483648"},
          {R"("bytes":400)", R"("bytes":4e2)", "stdout.bytes: expected an integer, got 4e2"},
          {R"("pids_peak":2)", R"("pids_peak":-1)",
           "usage.pids_peak: expected a number from 0 to 4294967295, got -1"},
          {R"("memory_peak_kb":4)", R"("memory_peak_kb":9007199254740992)",
           "usage.memory_peak_kb: expected a number from -9007199254740992 to 9007199254740991, "
           "got 9007199254740992"},
          {R"("runs":2)", R"("runs":1)",
           "determinism.runs: expected a number from 2 to 4294967295, got 1"},
          {R"("cached":true,"wall_ms":12)", R"("cached":true,"wall_ms":-1)",
           "compile.wall_ms: expected a number from 0 to 9223372036854776, got -1"},
          {R"("b64":"/w==")", R"("b64":"/w")", R"(outputs["c"].b64: not base64)"},
          {R"("b64":"/w==")", R"("b64":"/w==","text":"")", R"(outputs["c"]: expected text or b64)"},
          {R"("b64":"/w==",)", "", R"(outputs["c"]: expected text or b64)"},
          {R"([{"path":"d")", R"([{"path":null)",
           "outputs_refused[0].path: expected a string, got null"},
          {R"("treatment":"refused")", R"("treatment":"")",
           R"(observed[2].treatment: expected one of "allowed", "failed quietly", "refused", got "")"},
          {R"("profile":"pure")", R"("profile":"")",
           R"(observed[0].profile: expected one of "pure", "default", "subprocess", "build", got "")"},
          {R"(["userns")", R"(["user")",
           R"(enforced[0]: expected one of "userns", "pidns", "mntns", "netns", "ipcns", "utsns", )"
           R"("cgroupns", "cgroup.memory", "cgroup.pids", "cgroup.cpu", "landlock", "seccomp", "uid", )"
           R"("caps", "nnp", "rlimits", "fds", "scratch", got "user")"},
          {R"("level":"contained")", R"("level":"none")",
           R"(level: expected one of "full", "contained", "minimal", got "none")"},
          {R"("value":[5])", R"("value":[{"$type":"set","items":[NaN]}])",
           R"(not JSON: byte 356: NaN and Infinity are written {"$type": "float", "value": "nan"})"},
          {R"("value":[5])", R"("value":[{"$type":"sett","items":[]}])",
           R"(value[0]: unknown $type "sett")"}}) {
    CHECK(error_of(changed(line, from, to)) == error);
  }
}

TEST_CASE("each member that is always there is missed by its name", "[result][reader][errors]") {
  for (const char* name : {"id", "tag", "label", "by", "ok", "detail", "exit", "stdout", "stderr",
                           "value", "usage", "timing_us", "enforced", "level", "template"}) {
    const std::string line = line_of(whole_result());
    const std::string member = "\"" + std::string(name) + "\":";
    CHECK(error_of(changed(line, member, "\"_" + member.substr(1))) ==
          std::string(name) + ": required");
  }
  for (const char* path :
       {"exit.code",           "exit.signal",       "stdout.text",     "stdout.bytes",
        "stdout.truncated",    "stdout.lossy",      "exception.type",  "exception.message",
        "exception.traceback", "usage.cpu_ms",      "usage.wall_ms",   "usage.memory_peak_kb",
        "usage.pids_peak",     "usage.contended",   "usage.cpu_us",    "usage.wall_us",
        "timing_us.admit",     "timing_us.lease",   "timing_us.fork",  "timing_us.confine",
        "timing_us.run",       "timing_us.collect", "timing_us.judge", "determinism.runs",
        "determinism.same",    "compile.cached",    "compile.wall_ms"}) {
    const std::string place = path;
    const size_t dot = place.find('.');
    std::string line = line_of(whole_result());
    const size_t object = line.find("\"" + place.substr(0, dot) + "\":{");
    const size_t member = line.find("\"" + place.substr(dot + 1) + "\":", object);
    REQUIRE(member != line.npos);
    line.insert(member + 1, "_");
    CHECK(error_of(line) == place + ": required");
  }
}

TEST_CASE("members that are not known are left out, once they are JSON", "[result][reader]") {
  const std::string line = line_of(whole_result());
  std::string more = changed(line, R"({"id")", R"({"service":{"trace":{"flags":[1]}},"id")");
  more = changed(more, R"("usage":{)", R"("usage":{"io_kb":5,)");
  more = changed(more, R"("exit":{)", R"( "exit" : { "core" : true , )");
  const auto read = parse_result(more);
  REQUIRE(read.ok());
  CHECK(line_of(*read) == line);

  CHECK(error_of(changed(line, R"("usage":{)", R"("usage":{"io_kb":05,)"))
            .starts_with("not JSON: byte "));
  const std::string deep(300, '['), far(300, ']');
  CHECK(error_of(changed(line, R"({"id")", R"({"x":)" + deep + far + R"(,"id")")) ==
        "nested too deep");
}

TEST_CASE("a member that is there twice is an error", "[result][reader][errors]") {
  const std::string line = line_of(whole_result());
  CHECK(error_of(changed(line, R"({"id")", R"({"id":"b","id")")) == "id: given twice");
  CHECK(error_of(changed(line, R"("usage":{)", R"("usage":{"cpu_us":1,)")) ==
        "usage.cpu_us: given twice");
}

TEST_CASE("no beginning of a result is one, and nothing stands behind it",
          "[result][reader][errors]") {
  const std::string line = line_of(result_with_tests());
  for (size_t size = 0; size < line.size(); ++size) CHECK_FALSE(parse_result(line.substr(0, size)));
  CHECK(parse_result(line + "\n").ok());
  CHECK(error_of(line + "{}").ends_with("something behind the end"));
  CHECK(error_of("[]") == "expected an object, got a list");
  CHECK(error_of("\xFF") == "not JSON: byte 0: not UTF-8");
}

TEST_CASE("lists of a result are bounded", "[result][reader][errors]") {
  std::string tests, detail;
  for (size_t i = 0; i <= kMaxTests; ++i) tests += R"({"name":"","skipped":true},)";
  for (int i = 0; i < 257; ++i) detail += R"("":0,)";
  tests.pop_back();
  detail.pop_back();
  const std::string line = line_of(JobResult{});
  CHECK(error_of(changed(line, "{", "{\"tests\":[" + tests + "],")) == "tests: more than 10000");
  CHECK(error_of(changed(line, R"("detail":{)", R"("detail":{)" + detail)) ==
        "detail: more than 256");
}

}  // namespace runtime
