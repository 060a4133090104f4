#include "service/apis/open_r1/open_r1.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "service/apis/notebook.h"
#include "tests/unit/service/apis/result_of.h"

namespace service::open_r1 {

using nlohmann::json;

namespace {

json request() {
  return {{"scripts", {"1", "print(2)"}},
          {"languages", {"python", "ruby"}},
          {"timeout", 30},
          {"request_timeout", 28}};
}

runtime::JobResult result(const char* label, const char* by, const json& detail = json::object()) {
  const json ours = {{"id", "j-1"},
                     {"label", label},
                     {"by", by},
                     {"detail", detail},
                     {"exit", {{"code", nullptr}, {"signal", nullptr}}},
                     {"stdout", {{"text", ""}}},
                     {"stderr", {{"text", ""}}},
                     {"level", "full"}};
  return result_of(ours);
}

json element(const runtime::JobResult& result) { return json::parse(element_of(result)); }

// Each client's own reading of an element: E2B's router's, none: no reward.
bool e2b_has_reward(const json& element) { return !element.at("execution").is_null(); }

}  // namespace

TEST_CASE("a script is a cell that may start processes", "[service][open_r1]") {
  auto read = read_batch(request().dump());
  auto& batch = std::get<Batch>(read);
  REQUIRE(batch.scripts.size() == 2);
  auto made = job_of(batch, 0, {});
  const auto& job = std::get<runtime::Job>(made);
  CHECK(job.template_name == "python");
  CHECK(job.source == notebook_source());
  CHECK(job.func == "run_script");
  CHECK(job.limits.wall == sys::Milliseconds(30'000));
  CHECK(job.limits.cpu == sys::Milliseconds(30'000));
  CHECK(job.policy.profile == sandbox::Profile::kSubprocess);
  CHECK(job.policy.has_profile);
  CHECK(job.policy.refusals == runtime::Refusals::kOverlooked);
  made = job_of(batch, 1, {});
  CHECK(std::get<std::string>(made) == "language \"ruby\" is not offered here, only python");
}

TEST_CASE("what is no batch is 422 and says why", "[service][open_r1]") {
  const auto refused = [](json body, const char* name, const json& value) {
    body[name] = value;
    auto read = read_batch(body.dump());
    REQUIRE(std::holds_alternative<Response>(read));
    CHECK(std::get<Response>(read).status == 422);
    return json::parse(std::get<Response>(read).body).at("detail").get<std::string>();
  };
  CHECK(refused(request(), "scripts", {1}) == "scripts: expected a list of texts");
  CHECK(refused(request(), "languages", "python") == "languages: expected a list of texts");
  CHECK(refused(request(), "languages", {"python"}) ==
        "languages: expected as many as there are scripts");
  for (const json& seconds : {json(0), json(-1), json("1"), json()})
    CHECK(refused(request(), "timeout", seconds) ==
          "timeout: expected a number of seconds above 0");
  const json many(kMostScripts + 1, "");
  json body = request();
  body["languages"] = many;
  CHECK(refused(body, "scripts", many) == "scripts: at most 10000 in one request");
  CHECK(std::holds_alternative<Response>(read_batch("[]")));
}

TEST_CASE("our own trouble is no reward for either client", "[service][open_r1]") {
  for (const json& one : {element(result("SandboxError", "sandbox", {{"message", "no cell"}})),
                          element(result("Cancelled", "caller")),
                          json::parse(element_without_result("the queue is full"))}) {
    INFO(one.dump());
    CHECK_FALSE(e2b_has_reward(one));
    CHECK(std::isnan(std::stod(one.at("text").get<std::string>())));
    CHECK_FALSE(one.at("exception_str").get<std::string>().empty());
  }
  CHECK(element(result("SandboxError", "sandbox", {{"message", "no cell"}})).at("exception_str") ==
        "SandboxError: no cell");
}

TEST_CASE("a script that a limit has ended has a text that is no number", "[service][open_r1]") {
  const json one = element(result("TimeoutException", "limit"));
  CHECK(one.at("execution").is_null());
  CHECK(one.at("text") == "");
  CHECK(one.at("exception_str") == "TimeoutException: {}");
}

}  // namespace service::open_r1
