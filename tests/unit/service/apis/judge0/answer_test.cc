#include "service/apis/judge0/answer.h"

#include <catch2/catch.hpp>

#include "service/apis/judge0/ending.h"
#include "tests/unit/service/apis/result_of.h"

namespace service::judge0 {

namespace {

json ours(const char* label, const char* by, const json& code, const json& signal = nullptr) {
  return {{"id", "j-1"},
          {"label", label},
          {"by", by},
          {"detail", json::object()},
          {"exit", {{"code", code}, {"signal", signal}}},
          {"stdout", {{"text", "out \n\n"}}},
          {"stderr", {{"text", ""}}},
          {"usage", {{"cpu_ms", 152}, {"wall_ms", 170}, {"memory_peak_kb", 13'740}}},
          {"level", "full"}};
}

Asked asked(std::optional<std::string> expected = std::nullopt) {
  Asked made;
  made.source_code = "print()";
  made.expected_output = std::move(expected);
  made.language_id = 71;
  made.language_name = "Python (3.11.2)";
  for (const AmountRule& rule : kAmounts) made.amounts.*rule.member = rule.usual;
  return made;
}

Status status_of(const json& result, std::optional<std::string> expected = std::nullopt) {
  return ending_of(result_of(result), asked(std::move(expected))).status;
}

Submission submission(Ending ending) {
  const Status status = ending.status;
  return {.token = "t",
          .asked = std::make_shared<const Asked>(asked()),
          .status = status,
          .ending = std::make_shared<const Ending>(std::move(ending)),
          .created_ms = 1'733'764'975'662,
          .finished_ms = 1'733'764'976'045};
}

Query query_of(const char* target) {
  Request request;
  REQUIRE(read_target(target, request));
  auto query = read_query(request);
  REQUIRE(std::holds_alternative<Query>(query));
  return std::get<Query>(query);
}

}  // namespace

TEST_CASE("judge0: each end of a program has its status", "[service][judge0]") {
  CHECK(status_of(ours("OK", "program", 0)) == Status::kAccepted);
  CHECK(status_of(ours("OK", "program", 0), "out") == Status::kAccepted);
  CHECK(status_of(ours("OK", "program", 0), "other") == Status::kWrongAnswer);
  CHECK(status_of(ours("NonDeterministicCode", "policy", 0)) == Status::kAccepted);
  CHECK(status_of(ours("NonZeroExit", "program", 3), "other") == Status::kNzec);
  CHECK(status_of(ours("ValueError", "program", nullptr)) == Status::kNzec);
  CHECK(status_of(ours("ParsingCodeFailed", "program", nullptr)) == Status::kNzec);
  CHECK(status_of(ours("CompilationError", "program", nullptr)) == Status::kCompilationError);
  CHECK(status_of(ours("TimeoutException", "limit", nullptr, "SIGKILL")) ==
        Status::kTimeLimitExceeded);
  CHECK(status_of(ours("MemoryLimitExceeded", "limit", nullptr, "SIGKILL")) == Status::kOther);
  CHECK(status_of(ours("OutputLimitExceeded", "limit", nullptr, "SIGKILL")) == Status::kXfsz);
  CHECK(status_of(ours("DiskLimitExceeded", "limit", 1)) == Status::kXfsz);
  CHECK(status_of(ours("ProcessLimitExceeded", "limit", 0)) == Status::kNzec);
  CHECK(status_of(ours("UnsafeCode", "policy", 0)) == Status::kOther);
}

TEST_CASE("judge0: a signal has its status", "[service][judge0]") {
  const std::pair<const char*, Status> cases[] = {{"SIGSEGV", Status::kSegv},
                                                  {"SIGXFSZ", Status::kXfsz},
                                                  {"SIGFPE", Status::kFpe},
                                                  {"SIGABRT", Status::kAbrt},
                                                  {"SIGTERM", Status::kOther}};
  for (const auto& [signal, status] : cases)
    CHECK(status_of(ours("Signalled", "program", nullptr, signal)) == status);
  const Ending ending =
      ending_of(result_of(ours("Signalled", "program", nullptr, "SIGSEGV")), asked());
  CHECK(ending.exit_signal == 11);
  CHECK_FALSE(ending.exit_code);
  CHECK(ending.message == "Caught fatal signal 11");
}

TEST_CASE("judge0: our own trouble is an internal error that says nothing of the program",
          "[service][judge0]") {
  for (const auto& [label, by] :
       {std::pair{"SandboxError", "sandbox"}, {"Cancelled", "caller"}, {"BadJob", "caller"}}) {
    const Ending ending = ending_of(result_of(ours(label, by, nullptr)), asked("other"));
    CHECK(ending.status == Status::kInternalError);
    CHECK_FALSE(ending.out);
    CHECK_FALSE(ending.exit_code);
    CHECK(ending.message->starts_with(label));
  }
}

TEST_CASE("judge0: a message is text, whatever a program has put into it", "[service][judge0]") {
  runtime::JobResult result = result_of(ours("UnsafeCode", "policy", 0));
  result.verdict.detail.emplace_back("message", std::string("open /\xff"));
  CHECK(ending_of(result, asked()).message == "UnsafeCode: open /\uFFFD");
}

TEST_CASE("judge0: who ends by itself within the extra time was too late", "[service][judge0]") {
  json result = ours("OK", "program", 0);
  result["usage"]["cpu_ms"] = 5001;
  CHECK(status_of(result) == Status::kTimeLimitExceeded);
  result["usage"]["cpu_ms"] = 5000;
  CHECK(status_of(result) == Status::kAccepted);
  Asked unlimited = asked();
  unlimited.amounts.cpu_time_limit = 0;
  CHECK(ending_of(result_of(result), unlimited).status == Status::kAccepted);
}

TEST_CASE("judge0: blanks at the ends of lines and of the whole do not count",
          "[service][judge0]") {
  CHECK(is_as_expected("a\nb\n", "a \nb"));
  CHECK(is_as_expected("a\r\n\n \n", "a"));
  CHECK(is_as_expected("", "\n"));
  CHECK_FALSE(is_as_expected(" a", "a"));
  CHECK_FALSE(is_as_expected("a\n\nb", "a\nb"));
  CHECK_FALSE(is_as_expected("a", "a\nb"));
  CHECK_FALSE(is_as_expected("", "a"));
}

TEST_CASE("judge0: a client gets the fields that it names", "[service][judge0]") {
  const Submission it = submission(ending_of(result_of(ours("OK", "program", 0)), asked()));
  const auto told = [&it](const char* target) {
    return json::parse(submission_response(200, it, query_of(target)).body);
  };
  const json usual = told("/");
  CHECK(usual.at("stdout") == "out \n\n");
  CHECK(usual.at("stderr") == nullptr);
  CHECK(usual.at("time") == "0.152");
  CHECK(usual.at("memory") == 13'740);
  CHECK(usual.at("status") == json{{"id", 3}, {"description", "Accepted"}});
  CHECK(usual.at("zygo").at("label") == "OK");
  CHECK_FALSE(usual.contains("source_code"));
  CHECK(told("/?fields=status_id,token") == json{{"status_id", 3}, {"token", "t"}});
  const json all = told("/?fields=*");
  CHECK(all.size() == 35);
  CHECK(all.at("created_at") == "2024-12-09T17:22:55.662Z");
  CHECK(all.at("cpu_time_limit") == "5.0");
  CHECK(all.at("memory_limit") == 128'000);
  CHECK(all.at("language") == json{{"id", 71}, {"name", "Python (3.11.2)"}});
  CHECK_FALSE(all.contains("zygo"));  // its own client takes an unknown field for an error
  Request request;
  REQUIRE(read_target("/?fields=token,x,*,y", request));
  CHECK(std::get<Response>(read_query(request)).body == "{\"error\":\"invalid fields: [x, y]\"}\n");
}

TEST_CASE("judge0: output that is no UTF-8 is told in base64 only", "[service][judge0]") {
  Ending ending;
  ending.out = std::string(50, '\xff');
  const Submission it = submission(ending);
  const auto told = [&it](int status, const char* target) {
    return submission_response(status, it, query_of(target));
  };
  CHECK(json::parse(told(200, "/?base64_encoded=true").body).at("stdout") ==
        std::string(60, '/') + "\n" + "//////8=\n");
  CHECK(told(200, "/").status == 400);
  CHECK(told(201, "/?wait=true").status == 201);
  CHECK(json::parse(told(201, "/?wait=true").body).at("token") == "t");
  CHECK(told(200, "/?fields=status").status == 200);
  CHECK(batch_response({it, std::nullopt}, query_of("/")).status == 400);
  const Response batch = batch_response({it, std::nullopt}, query_of("/?fields=token"));
  CHECK(json::parse(batch.body) == json{{"submissions", {{{"token", "t"}}, nullptr}}});
}

TEST_CASE("judge0: the configuration has the limits that requests are held to",
          "[service][judge0]") {
  const json config = json::parse(config_response(7, false).body);
  CHECK(config.size() == 40);
  CHECK(config.at("max_queue_size") == 7);
  CHECK(config.at("max_cpu_time_limit") == 15.0);
  CHECK(config.at("max_submission_batch_size") == 20);
  CHECK(config.at("allow_enable_network") == false);
  CHECK(json::parse(statuses_response().body).size() == 14);
  CHECK(config.at("enable_callbacks") == false);
  const json with_callbacks = json::parse(config_response(7, true).body);
  CHECK(with_callbacks.at("enable_callbacks") == true);
  CHECK(with_callbacks.at("callbacks_max_tries") == 3);
  CHECK(with_callbacks.at("callbacks_timeout") == 5.0);
}

TEST_CASE("judge0: a callback tells the usual fields, texts in base64", "[service][judge0]") {
  const json told = json::parse(
      callback_body(submission({.status = Status::kAccepted, .out = std::string("a\xff")})));
  CHECK(told.at("stdout") == "Yf8=\n");
  CHECK(told.at("token") == "t");
  CHECK(told.at("status").at("id") == 3);
  CHECK(told.contains("zygo"));
  CHECK_FALSE(told.contains("source_code"));
}

}  // namespace service::judge0
