#include "service/apis/sandbox_fusion/submit.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "service/apis/notebook.h"
#include "service/apis/sandbox_fusion/jupyter.h"
#include "tests/unit/service/apis/result_of.h"

namespace service::sandbox_fusion {

using nlohmann::json;

namespace {

json request(const json& changes = json::object()) {
  json made = {{"dataset", "mine"},
               {"id", "p1"},
               {"completion", "```python\nprint(1)\n```"},
               {"config",
                {{"dataset_type", "CommonOJDataset"},
                 {"language", "python"},
                 {"provided_data",
                  {{"test",
                    {{{"input", {{"stdin", "a"}}}, {"output", {{"stdout", "A"}}}},
                     {{"input", {{"stdin", "b"}}}, {"output", {{"stdout", "B"}}}}}}}}}}};
  made.merge_patch(changes);
  return made;
}

Submission submission_of(const json& body) {
  auto read = read_submit(body.dump(), {});
  if (const auto* refused = std::get_if<Response>(&read)) FAIL(refused->body);
  return std::get<Submission>(std::move(read));
}

json refusal_of(const json& body, int status) {
  auto read = read_submit(body.dump(), {});
  REQUIRE(std::holds_alternative<Response>(read));
  CHECK(std::get<Response>(read).status == status);
  return json::parse(std::get<Response>(read).body)["detail"];
}

json test_result(const char* label, bool ok, int code) {
  return {{"label", label},
          {"by", "program"},
          {"ok", ok},
          {"detail", json::object()},
          {"exit", {{"code", code}, {"signal", nullptr}}},
          {"stdout", {{"text", "A"}}},
          {"stderr", {{"text", ""}}},
          {"usage", {{"wall_ms", 5}}}};
}

json whole_of(const char* label, const json& tests) {
  json made = test_result(label, false, 0);
  made["tests"] = tests;
  made["value"] = nullptr;
  return made;
}

}  // namespace

TEST_CASE("a submission is a job with tests", "[service][sandbox_fusion]") {
  const runtime::Job job = submission_of(request()).job;
  CHECK(job.source == "print(1)");
  CHECK(job.template_name == "python");
  CHECK(job.stop_at_failure);
  CHECK(job.limits.wall == sys::Milliseconds(20'000));
  REQUIRE(job.tests.size() == 2);
  CHECK(job.tests[1].stdin_bytes == "b");
  CHECK(job.tests[1].expect == "B");
  CHECK(job.tests[1].comparator == runtime::Comparator::kAlike);

  const json changes = {
      {"config",
       {{"language", "cpp"}, {"run_timeout", 1.5}, {"extra", {{"run_all_cases", true}}}}}};
  const runtime::Job other = submission_of(request(changes)).job;
  CHECK_FALSE(other.stop_at_failure);
  CHECK(other.limits.wall == sys::Milliseconds(1500));
  CHECK(submission_of(request({{"config", {{"language", "cpp"}}}})).job.limits.wall ==
        sys::Milliseconds(10'000));
}

TEST_CASE("cases may be the text of a JSON list, with its lines as they are",
          "[service][sandbox_fusion]") {
  const json text = R"([{"input": {"stdin": "1
2 \"x\""}, "output": {"stdout": "3"}}])";
  json body = request();
  body["config"]["provided_data"]["test"] = text;
  CHECK(submission_of(body).job.tests.at(0).stdin_bytes == "1\n2 \"x\"");
}

TEST_CASE("what cannot be judged is refused in the original's words", "[service][sandbox_fusion]") {
  CHECK(refusal_of(request({{"config", {{"dataset_type", nullptr}}}}), 400) ==
        "no eval class found for dataset mine");
  CHECK(refusal_of(request({{"config", {{"dataset_type", "MBPPDataset"}}}}), 400) ==
        "eval class MBPPDataset not found");
  CHECK(refusal_of(request({{"config", {{"provided_data", json::array({1})}}}}), 400) ==
        "request.config.provided_data should be a dict with str -> str | int");
  CHECK(refusal_of(request({{"config", {{"provided_data", {{"test", 5}}}}}}), 400) ==
        "provided_data.test: expected a list of cases");
  CHECK(refusal_of(request({{"config", {{"language", "lean"}}}}), 400) ==
        "language lean is not offered here");
  CHECK(refusal_of(request({{"id", 1.5}}), 422)[0]["loc"] == json({"body", "id"}));
  CHECK(refusal_of(request({{"config", nullptr}}), 422)[0]["loc"] == json({"body", "config"}));
  // The one data set of this class goes by its name.
  CHECK(submission_of(
            request({{"dataset", "code_contests"}, {"config", {{"dataset_type", nullptr}}}}))
            .job.tests.size() == 2);
}

TEST_CASE("what the tests said is the answer", "[service][sandbox_fusion]") {
  const Submission submission = submission_of(request());
  const json tests = {test_result("OK", true, 0), test_result("WrongAnswer", false, 0)};
  const Response response =
      submit_response(result_of(whole_of("WrongAnswer", tests)), *submission.cases);
  CHECK(response.status == 200);
  const json answer = json::parse(response.body);
  CHECK(answer["id"] == "p1");
  CHECK(answer["accepted"] == false);
  CHECK(answer["extracted_code"] == "print(1)");
  REQUIRE(answer["tests"].size() == 2);
  CHECK(answer["tests"][0]["passed"] == true);
  CHECK(answer["tests"][1]["passed"] == false);
  CHECK(answer["tests"][1]["exec_info"]["status"] == "Success");
  CHECK(answer["tests"][1]["test_info"]["output"]["stdout"] == "B");
}

TEST_CASE("trouble of the sandbox is nobody's wrong answer", "[service][sandbox_fusion]") {
  const Submission submission = submission_of(request());
  json broken = test_result("SandboxError", false, 0);
  broken["by"] = "sandbox";
  broken["detail"] = {{"message", "no memory"}};
  const json tests = {test_result("OK", true, 0), broken};
  json ours = whole_of("SandboxError", tests);
  CHECK(submit_response(result_of(ours), *submission.cases).status == 500);
  ours["by"] = "sandbox";
  ours["detail"] = broken["detail"];
  const Response whole = submit_response(result_of(ours), *submission.cases);
  CHECK(json::parse(whole.body)["detail"] == "Failed to check stdio test case: no memory");
}

TEST_CASE("cells are calls of one function", "[service][sandbox_fusion]") {
  const json body = {{"cells", {"a = 1", "a"}}, {"total_timeout", 2}, {"fetch_files", {"x"}}};
  auto read = read_run_jupyter(body.dump(), {});
  const auto& job = std::get<runtime::Job>(read);
  CHECK(job.mode == shim::Mode::kCall);
  CHECK(job.func == "run_cell");
  CHECK(job.source == notebook_source());
  CHECK(job.limits.wall == sys::Milliseconds(2000));
  CHECK(job.outputs == std::vector<std::string>{"x"});
}

TEST_CASE("cells that did not come to their end are no cells", "[service][sandbox_fusion]") {
  json ours = whole_of("TimeoutException", json::array());
  ours["by"] = "limit";
  json answer = json::parse(run_jupyter_response(result_of(ours)).body);
  CHECK(answer["status"] == "Failed");
  CHECK(answer["driver"]["status"] == "TimeLimitExceeded");
  CHECK(answer["cells"] == json::array());

  ours["by"] = "sandbox";
  answer = json::parse(run_jupyter_response(result_of(ours)).body);
  CHECK(answer["status"] == "SandboxError");
  CHECK(answer["driver"].is_null());
}

}  // namespace service::sandbox_fusion
