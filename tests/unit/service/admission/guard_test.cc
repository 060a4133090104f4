#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "service/admission/tokens.h"
#include "service/apis/dify/dify.h"
#include "service/apis/judge0/request.h"
#include "service/apis/native/native_api.h"
#include "service/apis/nemo/nemo.h"
#include "service/apis/open_r1/open_r1.h"
#include "service/apis/parsed.h"
#include "service/apis/registry.h"
#include "service/apis/sandbox_fusion/sandbox_fusion.h"
#include "service/http/listener.h"
#include "service/observe/metrics.h"
#include "service/router.h"

namespace service {
namespace {

constexpr const char* kToken = "0123456789abcdef";

std::string error_of(const std::string& text) {
  auto tokens = Tokens::parse(text);
  return tokens ? "" : tokens.error().text();
}

Router native_router() {
  Router router;
  for (const Description& each : NativeApi::descriptions())
    router.add({{each.method, each.pattern, each.scope, nullptr, each.probe}});
  return router;
}

}  // namespace

TEST_CASE("a token is known by its digest, and may do what its line says", "[service][tokens]") {
  const auto tokens = Tokens::parse(
      "# people\n\nann 0123456789abcdef jobs,metrics\n"
      "bob fedcba9876543210\n");

  const Tokens::Holder* ann = tokens->find(std::string("Bearer ") + kToken);
  REQUIRE(ann != nullptr);
  CHECK(ann->name == "ann");
  CHECK(ann->may(Scope::kJobs));
  CHECK(ann->may(Scope::kInfo));
  CHECK_FALSE(ann->may(Scope::kBlobs));
  CHECK(tokens->find("bearer fedcba9876543210")->may(Scope::kBlobs));
}

TEST_CASE("what is not quite a token is none", "[service][tokens]") {
  const auto tokens = Tokens::parse(std::string("ann ") + kToken);
  for (const std::string wrong :
       {"", "Bearer", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdef ",
        "Basic 0123456789abcdef", "0123456789abcdef", "Bearer  0123456789abcdef"})
    CHECK(tokens->find(wrong) == nullptr);
}

TEST_CASE("a mistake in the file is named by its line, and never with the token",
          "[service][tokens]") {
  CHECK(error_of("").find("at least one line") != std::string::npos);
  CHECK(error_of("\nann").starts_with("line 2: expected NAME TOKEN"));
  CHECK(error_of("ann secret").find("at least 16") != std::string::npos);
  CHECK(error_of("ann 0123456789abcdef all").find("\"all\" is no scope") != std::string::npos);
  const std::string twice = error_of("ann 0123456789abcdef\nbob 0123456789abcdef\n");
  CHECK(twice.starts_with("line 2: "));
  CHECK(twice.find(kToken) == std::string::npos);
}

TEST_CASE("addresses to listen on", "[service][listener]") {
  CHECK(parse_listen_address("127.0.0.1:0")->host == "127.0.0.1");
  CHECK(parse_listen_address("localhost:80")->host == "127.0.0.1");
  CHECK(parse_listen_address("[::1]:8000")->port == 8000);
  CHECK(parse_listen_address("unix:/run/a")->path == "/run/a");
  for (const char* wrong :
       {"", ":", "8000", ":8000", "localhost", "localhost:", "localhost:x", "localhost:65536",
        "::1:80", "example.org:80", "unix:", "[]:80", "127.0.0.1:80 "})
    CHECK_FALSE(parse_listen_address(wrong));
  CHECK_FALSE(parse_listen_address("unix:/" + std::string(200, 'a')));
}

TEST_CASE("a path is found with its parameter, or with the methods it has", "[service][router]") {
  const Router router = native_router();
  CHECK(router.match(Method::kPost, "/v1/jobs").route->pattern == "/v1/jobs");
  const Match job = router.match(Method::kDelete, "/v1/jobs/j-1");
  CHECK(job.route->method == Method::kDelete);
  CHECK(job.route->pattern == "/v1/jobs/{id}");
  CHECK(job.parameter == "j-1");
  CHECK(router.match(Method::kPut, "/v1/jobs/j-1").allow == "GET, DELETE");
  for (const char* wrong : {"/", "/v1", "/v1/jobs/", "/v1/jobs/a/b", "/v1/jobsx", "/V1/jobs"}) {
    CHECK(router.match(Method::kGet, wrong).route == nullptr);
    CHECK(router.match(Method::kGet, wrong).allow.empty());
  }
}

TEST_CASE("only a parameter of many parts has slashes", "[service][router]") {
  Router router;
  router.add({{Method::kGet, "/one/{id}", Scope::kInfo, nullptr},
              {Method::kGet, "/many/{path...}", Scope::kInfo, nullptr}});
  CHECK(router.match(Method::kGet, "/one/a").parameter == "a");
  CHECK_FALSE(router.match(Method::kGet, "/one/a/b").route);
  CHECK(router.match(Method::kGet, "/many/a/b").parameter == "a/b");
  CHECK_FALSE(router.match(Method::kGet, "/many/").route);
}

TEST_CASE("each API of others is known by its name, once", "[service][router]") {
  for (const KnownApi& known : known_apis()) CHECK(known_api(known.name) == &known);
  CHECK(known_api("go-judge")->scratch_name == "/w");
  CHECK(known_api("judge1") == nullptr);
}

TEST_CASE("no nesting leads a reader of foreign requests too deep", "[service][foreign]") {
  constexpr size_t kDeep = 600'000;  // an aligned frame is 16 bytes: more than 8 MiB of stack
  const std::string deep = std::string(kDeep, '[') + std::string(kDeep, ']');
  for (const char* field : {"args", "code", "files", "fetch_files", "stdin", "other"}) {
    INFO(field);
    const std::string body = std::string(R"({"language": "py", "version": "*", ")") + field +
                             "\": " + deep + R"(, "files": [{"content": "1"}], "code": "1"})";
    (void)sandbox_fusion::read_run_code(body, {});
    (void)dify::read_run(body, {});
    (void)open_r1::read_batch(body);
    (void)judge0::read_create(body, judge0::Encoding::kPlain, {}, {});
    (void)judge0::read_batch(body, judge0::Encoding::kPlain, {}, {});
    Request request;
    request.headers = {{"content-type", "application/json"}};
    request.body = body;
    (void)nemo::read_execute(request, {});
    const std::vector<piston::Language> languages = {{"python", {3, 11, 2}, {"py"}, false}};
    const auto read = piston::read_execute(request, languages, {}, {});
    CHECK(std::holds_alternative<piston::Execution>(read));
  }
  CHECK(parsed(deep).is_array());
  CHECK(parsed("[[[[[1]]]]]").dump() == "[[[[[]]]]]");
  CHECK(parsed("{").is_discarded());
}

TEST_CASE("each route is in the OpenAPI document, with its statuses", "[service][router]") {
  const Descriptions operations = NativeApi::descriptions();
  const auto document = nlohmann::json::parse(openapi_json("1", {operations}));
  for (const Description& route : operations) {
    std::string method(name_of(route.method));
    for (char& c : method) c = static_cast<char>(c | 0x20);
    const auto& operation = document.at("paths").at(std::string(route.pattern)).at(method);
    for (int status : route.statuses)
      CHECK(operation.at("responses").contains(std::to_string(status)));
  }
}

TEST_CASE("metrics are text that hostile labels cannot break", "[service][metrics]") {
  Metrics metrics;
  runtime::Timing timing;
  timing.run = 300;
  metrics.job_ended({.label = "OK",
                     .template_name = "python",
                     .api = "zygo",
                     .timing = &timing,
                     .queued_us = 40,
                     .total_us = 600,
                     .cpu_us = 250'000});
  metrics.job_ended({.label = "E\"\n\\\xff", .template_name = "python", .api = "zygo"});
  for (const char* name : {"\x1b[2JA", "\x07[2JA", "\xC2\x9b[2JA", "\xE2\x80\xAE[2JA", "\xff[2JA"})
    metrics.job_ended({.label = name, .template_name = "python", .api = "zygo"});
  metrics.answered(200);

  const std::string text = metrics.text({.queued = 3});

  CHECK(text.find("zygo_jobs_total{label=\"OK\",template=\"python\",api=\"zygo\"} 1\n") !=
        text.npos);
  CHECK(text.find("{label=\"E\\\"\\n\\\\\xEF\xBF\xBD\",template") != text.npos);
  // No character that a terminal would obey is there; names that become the same are one series.
  CHECK(text.find("{label=\"\xEF\xBF\xBD[2JA\",template=\"python\",api=\"zygo\"} 5\n") !=
        text.npos);
  CHECK(std::none_of(text.begin(), text.end(),
                     [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == 0x7f; }));
  CHECK(text.find("zygo_queue_jobs 3\n") != text.npos);
  CHECK(text.find("zygo_stage_seconds_bucket{stage=\"run\",le=\"0.00025\"} 0\n") != text.npos);
  CHECK(text.find("zygo_stage_seconds_bucket{stage=\"run\",le=\"0.0005\"} 1\n") != text.npos);
  CHECK(text.find("zygo_stage_seconds_bucket{stage=\"run\",le=\"+Inf\"} 1\n") != text.npos);
  CHECK(text.find("zygo_stage_seconds_sum{stage=\"run\"} 0.000300\n") != text.npos);
  CHECK(text.find("zygo_queue_seconds_bucket{le=\"5e-05\"} 1\n") != text.npos);
  CHECK(text.find("zygo_job_seconds_count 7\n") != text.npos);
  CHECK(text.find("zygo_job_cpu_seconds_total 0.25\n") != text.npos);
}

TEST_CASE("names that programs make up do not fill the memory", "[service][metrics]") {
  Metrics metrics;
  for (int i = 0; i < 5000; ++i)
    metrics.job_ended({.label = "E" + std::to_string(i) + std::string(1000, 'x'),
                       .template_name = "python",
                       .api = "zygo"});

  const std::string text = metrics.text({});

  CHECK(text.size() < 200'000);
  CHECK(
      text.find("zygo_jobs_total{label=\"(other)\",template=\"(other)\",api=\"(other)\"} 4500\n") !=
      text.npos);
}

TEST_CASE("a batch is lines, or an object with defaults and jobs", "[service][batch]") {
  CHECK_FALSE(BatchBody::read("{\"source\": \"1\"}\n{}")->is_object);
  CHECK_FALSE(BatchBody::read("garbage")->is_object);

  const auto body = BatchBody::read(
      "{\"defaults\": {\"template\": \"python-numpy\"},\n \"jobs\": [{\"source\":\n \"1\"}, 7]}");

  REQUIRE(body.ok());
  CHECK(body->is_object);
  CHECK(body->defaults->job.template_name == "python-numpy");
  CHECK(body->elements == "{\"source\":\"1\"}\n7\n");
}

TEST_CASE("a batch's mistakes are named by their path", "[service][batch]") {
  auto error = [](std::string_view text) { return BatchBody::read(text).error().text(); };
  CHECK(error("{\"jobs\": 1}").starts_with("jobs: "));
  CHECK(error("{\"jobs\": [], \"job\": 1}").starts_with("unknown field job"));
  CHECK(error("{\"defaults\": {\"sauce\": 1}, \"jobs\": []}").starts_with("defaults: "));
  CHECK_FALSE(BatchBody::read("{\"jobs\": [1"));
}

}  // namespace service
