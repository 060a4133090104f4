#include "service/apis/sandbox_fusion/sandbox_fusion.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/service/apis/result_of.h"

namespace service::sandbox_fusion {

using nlohmann::json;

namespace {

runtime::Job job_of(const json& request, const runtime::JobDefaults& defaults = {}) {
  auto read = read_run_code(request.dump(), defaults);
  if (const auto* refused = std::get_if<Response>(&read)) FAIL(refused->body);
  return std::get<runtime::Job>(std::move(read));
}

Response refusal_of(const std::string& body) {
  auto read = read_run_code(body, {});
  REQUIRE(std::holds_alternative<Response>(read));
  return std::get<Response>(read);
}

json complaint_of(const json& request) {
  const Response refused = refusal_of(request.dump());
  CHECK(refused.status == 422);
  const json detail = json::parse(refused.body).at("detail");
  REQUIRE(detail.size() == 1);
  return detail.at(0);
}

// A result of ours, with what an answer is made of.
json result(const char* label, const char* by, json exit, const json& changes = json::object()) {
  json made = {{"id", "j-1"},
               {"label", label},
               {"by", by},
               {"detail", json::object()},
               {"exit", std::move(exit)},
               {"stdout", {{"text", "out"}}},
               {"stderr", {{"text", "err"}}},
               {"usage", {{"wall_ms", 250}, {"cpu_ms", 200}}},
               {"level", "full"},
               {"template", "python@sha256:0"}};
  made.merge_patch(changes);
  return made;
}

json answer_to(const json& ours) { return json::parse(run_code_response(result_of(ours)).body); }

const json kEndedWell = {{"code", 0}, {"signal", nullptr}};
const json kKilled = {{"code", nullptr}, {"signal", "SIGKILL"}};

}  // namespace

TEST_CASE("a text of PHP without a tag is a program", "[service][sandbox_fusion]") {
  const auto source = [](const char* code) {
    return job_of({{"code", code}, {"language", "php"}}).source;
  };
  CHECK(source("echo 1;") == "<?php\necho 1;");
  CHECK(source("\n <?php echo 1;") == "<?php echo 1;");
  CHECK(job_of({{"code", " echo 1"}, {"language", "bash"}}).source == " echo 1");
}

TEST_CASE("a run_code request is a job", "[service][sandbox_fusion]") {
  const runtime::Job job = job_of({{"code", "print(1)"},
                                   {"language", "cpp"},
                                   {"stdin", "3 4"},
                                   {"run_timeout", 2.5},
                                   {"memory_limit_MB", 300},
                                   {"files", {{"a/b.txt", "aGk="}, {"none", nullptr}}},
                                   {"fetch_files", {"out.txt"}}});
  CHECK(job.source == "print(1)");
  CHECK(job.template_name == "cpp17-unoptimised");
  CHECK(job.stdin_bytes == "3 4");
  CHECK(job.limits.wall == sys::Milliseconds(2500));
  CHECK(job.limits.cpu == sys::Milliseconds(2500));
  CHECK(job.limits.memory == sys::mebibytes(300));
  REQUIRE(job.files.size() == 1);
  CHECK(job.files[0].path == "a/b.txt");
  CHECK(job.files[0].content == "hi");
  CHECK(job.outputs == std::vector<std::string>{"out.txt"});
}

TEST_CASE("python is the operator's python", "[service][sandbox_fusion]") {
  runtime::JobDefaults defaults;
  CHECK(job_of({{"code", ""}, {"language", "python"}}, defaults).template_name == "python");
  CHECK(job_of({{"code", ""}}, defaults).template_name == "python");
  defaults.job.template_name = "python-numpy";
  CHECK(job_of({{"code", ""}, {"language", "python"}}, defaults).template_name == "python-numpy");
  defaults.job.template_name = "cpp";
  CHECK(job_of({{"code", ""}, {"language", "python"}}, defaults).template_name == "python");
}

TEST_CASE("what is missing or of the wrong type is 422, by name", "[service][sandbox_fusion]") {
  CHECK(complaint_of({{"language", "python"}}) ==
        json{{"type", "missing"}, {"loc", {"body", "code"}}, {"msg", "Field required"}});
  CHECK(complaint_of({{"code", 5}})["type"] == "string_type");
  CHECK(complaint_of({{"code", ""}, {"language", "cobol"}})["type"] == "literal_error");
  CHECK(complaint_of({{"code", ""}, {"stdin", json::array()}})["loc"] == json({"body", "stdin"}));
  CHECK(complaint_of({{"code", ""}, {"run_timeout", "soon"}})["type"] == "float_type");
  CHECK(complaint_of({{"code", ""}, {"run_timeout", -1}})["type"] == "float_type");
  CHECK(complaint_of({{"code", ""}, {"memory_limit_MB", 1.5}})["type"] == "int_type");
  CHECK(complaint_of({{"code", ""}, {"files", {{"a", 1}}}})["loc"] == json({"body", "files"}));
  CHECK(complaint_of({{"code", ""}, {"fetch_files", "a"}})["type"] == "list_type");
  CHECK(refusal_of("{").status == 422);
  CHECK(refusal_of("[1]").status == 422);
  // All of it is told at once.
  CHECK(json::parse(refusal_of(R"({"stdin": 1})").body)["detail"].size() == 2);
}

TEST_CASE("paths that lead out, and languages nobody has here, are 400",
          "[service][sandbox_fusion]") {
  const Response out = refusal_of(json{{"code", ""}, {"files", {{"../x", "aGk="}}}}.dump());
  CHECK(out.status == 400);
  CHECK(json::parse(out.body)["detail"].get<std::string>().find("../x") != std::string::npos);
  CHECK(refusal_of(json{{"code", ""}, {"language", "verilog"}}.dump()).status == 400);
}

TEST_CASE("ends, in the words of the original", "[service][sandbox_fusion]") {
  struct Case {
    json ours;
    const char *status, *run;
    json code;
  };
  const json failed = {{"code", 3}, {"signal", nullptr}};
  const json crashed = {{"code", nullptr}, {"signal", "SIGSEGV"}};
  const Case cases[] = {
      {result("OK", "program", kEndedWell), "Success", "Finished", 0},
      {result("NonDeterministicCode", "policy", kEndedWell), "Success", "Finished", 0},
      {result("ValueError", "program", {{"code", 1}, {"signal", nullptr}}), "Failed", "Finished",
       1},
      {result("RateLimitExceeded", "program", failed), "Failed", "Finished", 3},
      {result("NonZeroExit", "program", failed), "Failed", "Finished", 3},
      {result("Signalled", "program", crashed), "Failed", "Finished", -11},
      {result("TimeoutException", "limit", kKilled), "Failed", "TimeLimitExceeded", nullptr},
      {result("MemoryLimitExceeded", "limit", kKilled), "Failed", "Finished", -9},
      {result("OutputLimitExceeded", "limit", kKilled), "Failed", "Finished", -9},
      {result("UnsafeCode", "policy", kEndedWell), "Failed", "Finished", -31},
      {result("SandboxError", "sandbox", kKilled), "SandboxError", "Error", nullptr},
      {result("Cancelled", "caller", kKilled), "SandboxError", "Error", nullptr},
  };
  for (const Case& one : cases) {
    INFO(one.ours["label"]);
    const json answer = answer_to(one.ours);
    CHECK(answer["status"] == one.status);
    CHECK(answer["compile_result"].is_null());
    CHECK(answer["run_result"]["status"] == one.run);
    CHECK(answer["run_result"]["return_code"] == one.code);
    CHECK(answer["run_result"]["stdout"] == "out");
    CHECK(answer["run_result"]["execution_time"] == 0.25);
    CHECK(answer["executor_pod_name"].is_null());
    CHECK(answer["zygo"]["label"] == one.ours["label"]);
  }
}

TEST_CASE("a build that fails has no run; one that does not has both",
          "[service][sandbox_fusion]") {
  const json compile = {{"compile", {{"cached", false}, {"wall_ms", 500}}}};
  json answer = answer_to(result("CompilationError", "program", kEndedWell, compile));
  CHECK(answer["status"] == "Failed");
  CHECK(answer["run_result"].is_null());
  CHECK(answer["compile_result"]["return_code"] == 1);
  CHECK(answer["compile_result"]["stderr"] == "err");
  CHECK(answer["compile_result"]["execution_time"] == 0.5);

  answer = answer_to(result("CompilationError", "program", kEndedWell,
                            {{"detail", {{"ended_as", "TimeoutException"}}}}));
  CHECK(answer["compile_result"]["status"] == "TimeLimitExceeded");
  CHECK(answer["compile_result"]["return_code"].is_null());

  answer = answer_to(result("OK", "program", kEndedWell, compile));
  CHECK(answer["compile_result"]["return_code"] == 0);
  CHECK(answer["run_result"]["return_code"] == 0);
}

TEST_CASE("files come back as base64 under the names they were asked for by",
          "[service][sandbox_fusion]") {
  const json outputs = {{"outputs", {{"a", {{"text", "hi"}}}, {"b", {{"b64", "/w=="}}}}}};
  const json answer = answer_to(result("OK", "program", kEndedWell, outputs));
  CHECK(answer["files"] == json{{"a", "aGk="}, {"b", "/w=="}});
}

TEST_CASE("a file may be named by its full path; outside there is none",
          "[service][sandbox_fusion]") {
  const runtime::Job job = job_of({{"code", ""},
                                   {"files", {{"/tmp/in", "aGk="}}},
                                   {"fetch_files", {"/tmp/a", "b", "/etc/passwd", "/tmp/"}}});
  CHECK(job.files.at(0).path == "in");
  CHECK(job.outputs == std::vector<std::string>{"a", "b"});

  const json answer =
      answer_to(result("OK", "program", kEndedWell,
                       {{"outputs", {{"a", {{"text", "hi"}}}}}, {"tag", {"/tmp/a", "/tmp/none"}}}));
  CHECK(answer["files"]["/tmp/a"] == "aGk=");
  CHECK_FALSE(answer["files"].contains("/tmp/none"));
}

TEST_CASE("its clients try again after 504 only", "[service][sandbox_fusion]") {
  const Response response = try_again("the queue is full");
  CHECK(response.status == 504);
  CHECK(json::parse(response.body)["detail"] == "the queue is full");
}

TEST_CASE("what zygo has failed is tried again, what is wrong with a request is not",
          "[service][sandbox_fusion]") {
  const auto status = [](const char* label, const char* by) {
    const Response response = run_code_response(result_of(result(label, by, kKilled)));
    CHECK(json::parse(response.body)["zygo"]["label"] == label);
    return response.status;
  };
  CHECK(status("SandboxError", "sandbox") == 504);
  CHECK(status("Cancelled", "caller") == 504);  // the service ends
  CHECK(status("BadJob", "caller") == 200);
  CHECK(status("ValueError", "program") == 200);
  CHECK(status("TimeoutException", "limit") == 200);
}

}  // namespace service::sandbox_fusion
