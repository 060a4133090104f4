#include "tools/cli/replay/recorded.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runtime/json/job/job_json.h"
#include "runtime/json/job/job_record.h"
#include "runtime/json/result/result_json.h"
#include "tools/cli/replay/surroundings.h"

namespace cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* kJob =
    R"({"id": "a", "source": "print", "record": true, "stdin": "in",
        "files": {"f": {"text": "x"}, "d": {"directory": true}}, "limits": {"cpu_ms": 77}})";

runtime::JobResult result_with(const std::string& job_text) {
  const auto job = runtime::parse_job(job_text, {});
  REQUIRE(job.ok());
  runtime::JobResult result;
  result.id = "a";
  result.verdict = runtime::verdict_labelled("OK");
  result.verdict.by = runtime::By::kProgram;
  result.level = runtime::Engine::Standing().level;
  runtime::Origin origin;
  origin.zygo = "1";
  origin.template_name = "python";
  origin.identity = "python@sha256:1";
  origin.preloads = {"json"};
  result.record = runtime::JobRecord{job->recorded, std::make_shared<runtime::Origin>(origin)};
  return result;
}

std::string line_with(const std::string& job_text) {
  std::string line;
  runtime::append_result(result_with(job_text), line);
  return line;
}

std::string error_of(const ordered_json& object) {
  const auto read = parse_recorded(object.dump());
  return read.ok() ? "" : read.error().text();
}

}  // namespace

TEST_CASE("a record gives the job back, with its limits and without its wish for a record",
          "[cli][replay]") {
  const auto read = parse_recorded(line_with(kJob));

  if (!read) FAIL(read.error().text());
  const runtime::Job& job = read->job;
  CHECK((job.id == "a" && job.source == "print" && job.stdin_bytes == "in"));
  CHECK((job.limits.cpu.count() == 77 && !job.record && !job.recorded));
  CHECK(job.files.size() == 2);
  CHECK(read->obstacle.empty());
  CHECK(read->result.record->origin->preloads == std::vector<std::string>{"json"});
}

TEST_CASE("a record says every limit, also a usual one", "[cli][replay]") {
  const ordered_json job = ordered_json::parse(line_with(kJob))["record"]["job"];

  CHECK(job["limits"]["wall_ms"] == 10000);
  CHECK(job["limits"]["memory_mb"] == 512);
  CHECK(job["template"] == "python");
  CHECK(!job.contains("deadline_ms"));
}

TEST_CASE("a part that was tampered with does not match its digest", "[cli][replay]") {
  const ordered_json whole = ordered_json::parse(line_with(kJob));
  const auto tampered = [&whole](const char* path, const ordered_json& value) {
    ordered_json object = whole;
    object[ordered_json::json_pointer(path)] = value;
    return error_of(object);
  };
  using Catch::StartsWith;

  CHECK(error_of(whole).empty());
  CHECK_THAT(tampered("/record/job/source", "print(2)"), StartsWith("record.digests.source: "));
  CHECK_THAT(tampered("/record/job/stdin", "out"), StartsWith("record.digests.stdin: "));
  CHECK_THAT(tampered("/record/job/files/f/text", "y"),
             StartsWith("record.digests.files[\"f\"]: "));
  CHECK_THAT(tampered("/record/job/limits/cpu_ms", 78), StartsWith("record.digests.job: "));
  CHECK_THAT(tampered("/record/job/argv", {"-v"}), StartsWith("record.digests.job: "));
  CHECK_THAT(tampered("/record/digests/source", "sha256:1"),
             StartsWith("record.digests.source: expected sha256:"));
}

TEST_CASE("a record that another program has written anew is the same", "[cli][replay]") {
  const ordered_json whole =
      ordered_json::parse(line_with(R"({"source": "'é\u007f'", "record": true})"));

  CHECK(parse_recorded(whole.dump(2, ' ', true)).ok());
}

TEST_CASE("calls have a digest", "[cli][replay]") {
  ordered_json whole = ordered_json::parse(line_with(
      R"({"source": "1", "mode": "call", "func": "f", "inputs": [1.50, [2]], "record": true})"));
  CHECK(error_of(whole).empty());

  whole["record"]["job"]["calls"][0]["args"][0] = 2;
  CHECK_THAT(error_of(whole), Catch::StartsWith("record.digests.calls: "));
}

TEST_CASE("a result without a record is told how it would have one", "[cli][replay]") {
  ordered_json without = ordered_json::parse(line_with(kJob));
  without.erase("record");
  CHECK_THAT(error_of(without), Catch::StartsWith("record: required; run jobs with"));

  for (const char* by : {"sandbox", "caller"}) {
    without["label"] = std::string(by) == "sandbox" ? "SandboxError" : "Cancelled";
    without["by"] = by;
    without["ok"] = false;
    const auto read = parse_recorded(without.dump());
    REQUIRE(read.ok());
    CHECK(!read->obstacle.empty());
  }
}

TEST_CASE("results are lines, or one object on several", "[cli][replay]") {
  const std::string line = line_with(kJob);
  const auto lines = parse_all_recorded("r", line + "\n\n" + line + "\n");
  const auto pretty = parse_all_recorded("r", ordered_json::parse(line).dump(2));

  REQUIRE((lines.ok() && pretty.ok()));
  CHECK((lines->size() == 2 && pretty->size() == 1));
  CHECK((lines->at(1).place == "r:3" && pretty->front().place == "r:1"));
  const auto torn = parse_all_recorded("r", line + "\n{\"id\": \"b\"");
  REQUIRE(!torn.ok());
  CHECK_THAT(torn.error().text(), Catch::StartsWith("r:2: "));
  CHECK(!parse_all_recorded("r", "\n").ok());
}

TEST_CASE("a change of the place is told once, with its count", "[cli][replay]") {
  const runtime::JobResult recorded = result_with(kJob);
  runtime::Origin here = *recorded.record->origin;
  std::vector<Change> changes;
  add_changes(recorded, here, {}, changes);
  CHECK(changes.empty());

  here.zygo = "2";
  here.preloads = {};
  add_changes(recorded, here, {}, changes);
  add_changes(recorded, here, {}, changes);

  REQUIRE(changes.size() == 2);
  CHECK((changes[0].what == "zygo" && changes[0].recorded == "1" && changes[0].results == 2));
  CHECK((changes[1].what == "template python: preloads" && changes[1].here == "none"));
  runtime::JobResult contained = recorded;
  contained.level = sandbox::Level::kContained;
  contained.enforced = sandbox::Layers().with(sandbox::Layer::kSeccomp);
  changes.clear();
  add_changes(contained, *recorded.record->origin, {}, changes);
  REQUIRE(changes.size() == 2);
  CHECK((changes[0].what == "level" && changes[0].recorded == "contained"));
  CHECK((changes[1].recorded == "seccomp" && changes[1].here == "none"));
  CHECK(unknown_template(recorded, "mine") ==
        "template mine is unknown here; it was recorded with --template mine --preload json");
}

TEST_CASE("what a record does not say is unknown, and a change", "[cli][replay]") {
  runtime::JobResult recorded = result_with(kJob);
  runtime::Origin here = *recorded.record->origin;
  here.kernel = "Linux 1";
  here.machine = "x";
  const auto told = [&](const runtime::JobResult& result) {
    std::vector<Change> changes;
    add_changes(result, here, {}, changes);
    std::vector<std::string> what;
    for (const Change& change : changes) {
      CHECK(change.recorded == kUnknown);
      what.push_back(change.what);
    }
    return what;
  };
  CHECK(told(recorded) == std::vector<std::string>{"kernel", "machine"});

  recorded.record->origin = nullptr;
  recorded.level.reset();
  CHECK(told(recorded) ==
        std::vector<std::string>{"zygo", "kernel", "machine", "template", "level"});
}

TEST_CASE("a record of another template is told by its name", "[cli][replay]") {
  const runtime::JobResult recorded = result_with(kJob);
  runtime::Origin here = *recorded.record->origin;
  here.template_name = "mine";
  std::vector<Change> changes;
  add_changes(recorded, here, {}, changes);

  REQUIRE(changes.size() == 1);
  CHECK((changes[0].what == "template" && changes[0].recorded == "python"));
  CHECK(changes[0].here == "mine");
}

}  // namespace cli
