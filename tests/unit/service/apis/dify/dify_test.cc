#include "service/apis/dify/dify.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/service/apis/result_of.h"

namespace service::dify {

using nlohmann::json;

namespace {

runtime::Job job_of(const json& request) {
  auto read = read_run(request.dump(), {});
  if (const auto* refused = std::get_if<Response>(&read)) FAIL(refused->body);
  return std::get<runtime::Job>(std::move(read));
}

json answer_to(const char* label, const char* by, json code, const json& detail = json::object(),
               const char* err = "") {
  const json ours = {{"id", "j-1"},
                     {"label", label},
                     {"by", by},
                     {"detail", detail},
                     {"exit", {{"code", std::move(code)}, {"signal", nullptr}}},
                     {"stdout", {{"text", "out"}}},
                     {"stderr", {{"text", err}}},
                     {"level", "full"}};
  const Response response = run_response(result_of(ours));
  CHECK(response.status == 200);
  return json::parse(response.body);
}

}  // namespace

TEST_CASE("a run request is a job", "[service][dify]") {
  runtime::Job job = job_of({{"language", "python3"}, {"code", "print(1)"}, {"preload", "x = 1"}});
  CHECK(job.template_name == "python");
  CHECK(job.source == "x = 1\nprint(1)");
  CHECK(job.limits.wall == sys::Milliseconds(5000));
  CHECK(job_of({{"language", "nodejs"}, {"code", "1"}, {"enable_network", true}}).template_name ==
        "javascript");
}

TEST_CASE("what is no run request is 400 with the code -400", "[service][dify]") {
  for (const std::string body : {"", "[]", R"({"language": "ruby", "code": "1"})",
                                 R"({"language": "python3"})", R"({"code": 1})"}) {
    INFO(body);
    auto read = read_run(body, {});
    REQUIRE(std::holds_alternative<Response>(read));
    CHECK(std::get<Response>(read).status == 400);
    CHECK(json::parse(std::get<Response>(read).body)["code"] == -400);
  }
}

TEST_CASE("error is empty if and only if a program ended well", "[service][dify]") {
  json answer = answer_to("OK", "program", 0);
  CHECK(answer["code"] == 0);
  CHECK(answer["message"] == "success");
  CHECK(answer["data"]["stdout"] == "out");
  CHECK(answer["data"]["error"] == "");
  CHECK(answer["data"]["exit_code"] == 0);

  answer = answer_to("TimeoutException", "limit", nullptr);
  CHECK(answer["data"]["error"] == "error: timeout\n");
  CHECK(answer["data"]["exit_code"] == -1);

  answer = answer_to("ValueError", "program", 1, json::object(), "Traceback");
  CHECK(answer["data"]["error"] == "Traceback");
  CHECK(answer["data"]["exit_code"] == 1);

  answer = answer_to("UnsafeCode", "policy", 0, {{"syscall", "socket"}});
  CHECK(answer["data"]["error"] == "error: operation not permitted: socket\n");
  CHECK(answer["data"]["exit_code"] == -1);

  CHECK(answer_to("MemoryLimitExceeded", "limit", nullptr)["data"]["exit_code"] == -1);
}

TEST_CASE("our own trouble is the code -500, and no answer of a program's", "[service][dify]") {
  const json answer = answer_to("SandboxError", "sandbox", nullptr, {{"message", "no cell"}});
  CHECK(answer["code"] == -500);
  CHECK(answer["message"] == "error: no cell\n");
  CHECK(answer["data"].is_null());
  CHECK(overloaded().status == 503);
}

}  // namespace service::dify
