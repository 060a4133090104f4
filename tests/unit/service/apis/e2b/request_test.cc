#include "service/apis/e2b/request.h"

#include <catch2/catch.hpp>

namespace service::e2b {

namespace {

template <typename T>
T accepted(std::variant<T, Response> read) {
  if (const auto* refused = std::get_if<Response>(&read)) FAIL(refused->body);
  return std::get<T>(std::move(read));
}

template <typename T>
int status_of_refusal(const std::variant<T, Response>& read) {
  const auto* refused = std::get_if<Response>(&read);
  if (!refused) return 0;
  const nlohmann::json body = nlohmann::json::parse(refused->body);
  CHECK(body.at("code") == refused->status);
  CHECK_FALSE(body.at("message").get<std::string>().empty());
  return refused->status;
}

Request with_headers(Headers headers) {
  Request request;
  request.headers = std::move(headers);
  return request;
}

}  // namespace

TEST_CASE("a sandbox is begun as the SDKs ask for it", "[apis][e2b]") {
  const Creation made = accepted(read_create(
      R"({"templateID":"base","timeout":60,"metadata":{"a":"b"},"envVars":{"X":"1"},
          "autoPause":true,"autoPauseMemory":true,"autoResume":{"enabled":false},
          "allow_internet_access":true,"secure":true,"network":null})"));

  CHECK(made.template_id == "base");
  CHECK(made.life == sys::Milliseconds(60'000));
  CHECK(made.metadata == nlohmann::json({{"a", "b"}}));
  CHECK(made.env == std::vector<std::pair<std::string, std::string>>{{"X", "1"}});
  CHECK(made.pauses);
}

TEST_CASE("of a sandbox that is to be begun nothing has to be said", "[apis][e2b]") {
  for (const char* body : {"", "{}", R"({"timeout":null})"}) {
    const Creation made = accepted(read_create(body));
    CHECK(made.life == kUsualLife);
    CHECK_FALSE(made.pauses);
  }
}

TEST_CASE("a sandbox with what is not offered is refused, and so is nonsense", "[apis][e2b]") {
  const std::pair<std::string, int> bodies[] = {
      {"[]", 400},
      {"{", 400},
      {R"({"templateID":1})", 400},
      {R"({"templateID":")" + std::string(201, 'x') + "\"}", 400},
      {R"({"a":")" + std::string(300'000, 'x') + "\"}", 400},
      {R"({"timeout":"1"})", 400},
      {R"({"timeout":-1})", 400},
      {R"({"timeout":86401})", 400},
      {R"({"timeout":1e300})", 400},
      {R"({"envVars":{"A":1}})", 400},
      {R"({"metadata":["a"]})", 400},
      {R"({"metadata":{"a":")" + std::string(70'000, 'x') + "\"}}", 400},
      {R"({"autoPause":"yes"})", 400},
      {R"({"mcp":{"a":{}}})", 501},
      {R"({"volumeMounts":[{"name":"a","path":"/b"}]})", 501},
      {R"({"network":{"allowOut":["a"]}})", 501},
      {R"({"iam":{"tokens":{"a":{}}}})", 501},
      {R"({"autoPause":true,"autoPauseMemory":false})", 501},
      {R"({"autoPause":true,"autoResume":{"enabled":true}})", 501},
  };
  for (const auto& [body, status] : bodies) {
    CAPTURE(body.substr(0, 60));
    CHECK(status_of_refusal(read_create(body)) == status);
  }
}

TEST_CASE("code may name a context, a language and variables", "[apis][e2b]") {
  const Execution made = accepted(
      read_execute(R"({"code":"1","context_id":"c1","language":null,"env_vars":{"A":"b"}})"));

  CHECK(made.code == "1");
  CHECK(made.context == "c1");
  CHECK(made.language.empty());
  CHECK(made.env.size() == 1);
  for (const char* body :
       {"", "{}", R"({"code":1})", R"({"code":"","context_id":1})", R"({"code":"","language":[]})",
        R"({"code":"","env_vars":[]})", R"({"code":"","env_vars":{"A=B":""}})",
        R"({"code":"","env_vars":{"":""}})", R"({"code":"","env_vars":{"A":"\u0000"}})"})
    CHECK(status_of_refusal(read_execute(body)) == 400);
}

TEST_CASE("code is read as a cell of a notebook", "[apis][e2b]") {
  const auto read = read_execute(R"({"code":"\n  if a:\n    b"})");
  CHECK(std::get<Execution>(read).code == "if a:\n  b");
}

TEST_CASE("python is the only language, by either name", "[apis][e2b]") {
  for (const char* language : {"", "python", "python3"}) CHECK(is_offered(language));
  CHECK_FALSE(is_offered("javascript"));
  CHECK(why_not_offered("js").find("\"js\"") != std::string::npos);
}

TEST_CASE("a working directory is a path that Linux would take", "[apis][e2b]") {
  CHECK(accepted(read_context(R"({"cwd":"/tmp"})")).cwd == "/tmp");
  CHECK(status_of_refusal(read_context(R"({"cwd":")" + std::string(5000, 'x') + "\"}")) == 400);
  CHECK(status_of_refusal(read_context(R"({"cwd":"a\u0000"})")) == 400);
}

TEST_CASE("a pause without the memory is not offered, nor is a beginning", "[apis][e2b]") {
  for (const char* body : {"", "{}", R"({"memory":true})", R"({"memory":null})"}) {
    CHECK_FALSE(refuse_pause(body));
    accepted(read_life(body));
  }
  CHECK(refuse_pause(R"({"memory":false})").value().status == 501);
  CHECK(refuse_pause("[]").value().status == 400);
  CHECK(status_of_refusal(read_life(R"({"timeout":1,"memory":false})")) == 501);
}

TEST_CASE("forks are 1 to 100", "[apis][e2b]") {
  CHECK(accepted(read_fork("")).count == 1);
  CHECK(accepted(read_fork(R"({"count":100,"timeout":5})")).count == 100);
  for (const char* body : {R"({"count":0})", R"({"count":101})", R"({"count":"2"})"})
    CHECK(status_of_refusal(read_fork(body)) == 400);
}

TEST_CASE("a request names its sandbox in a header, or in its host's name", "[apis][e2b]") {
  const std::string id = "i0123456789abcdef0123";
  CHECK(sandbox_named(with_headers({{"e2b-sandbox-id", "i1"}, {"host", "49999-" + id + ".x"}})) ==
        "i1");
  CHECK(sandbox_named(with_headers({{"host", "49999-" + id + ".sandbox.example:80"}})) == id);
  for (const std::string& host :
       {std::string("127.0.0.1:8000"), "a-" + id + ".example", "-" + id + ".example", "49999-" + id,
        "4.9-" + id, std::string("10-0-0-1.default.pod.cluster.local"),
        std::string("8000-internal.example"), "49999-" + id + "0.example"})
    CHECK(sandbox_named(with_headers({{"host", host}})).empty());
  CHECK(sandbox_named({}).empty());
}

TEST_CASE("a sandbox's secret comes in one of two headers", "[apis][e2b]") {
  CHECK(brings_secret(with_headers({{"x-access-token", "s"}}), "s"));
  CHECK(brings_secret(with_headers({{"e2b-traffic-access-token", "s"}}), "s"));
  CHECK_FALSE(brings_secret(with_headers({{"x-access-token", "t"}}), "s"));
  CHECK_FALSE(brings_secret(with_headers({{"x-access-token", ""}}), "s"));
  CHECK_FALSE(brings_secret({}, "s"));
}

}  // namespace service::e2b
