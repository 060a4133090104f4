#include "service/apis/nemo/nemo.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "tests/unit/service/apis/result_of.h"

namespace service::nemo {

using nlohmann::json;

namespace {

// As the client sends it.
json body(const char* language = "python") {
  return {{"generated_code", "print(1)"},
          {"std_input", "in"},
          {"timeout", 2.5},
          {"language", language},
          {"max_output_characters", 100},
          {"traceback_verbosity", "Plain"}};
}

Request request_of(const std::string& body) {
  Request request;
  request.body = body;
  return request;
}

Execution execution_of(const json& body) {
  auto read = read_execute(request_of(body.dump()), {});
  if (const auto* refused = std::get_if<Response>(&read)) FAIL(refused->body);
  return std::get<Execution>(std::move(read));
}

// All fields are texts.
std::string refusal_of(const Request& request, int status) {
  auto read = read_execute(request, {});
  REQUIRE(std::holds_alternative<Response>(read));
  CHECK(std::get<Response>(read).status == status);
  const json answer = json::parse(std::get<Response>(read).body);
  CHECK(answer.at("process_status") == "error");
  CHECK(answer.at("stdout") == "");
  CHECK(answer.size() == 3);
  return answer.at("stderr");
}

struct Answered {
  int status;
  json body;
};

Answered answer_to(const char* label, const char* by, bool is_by_code = false,
                   const json& detail = json::object(), const char* out = "out",
                   size_t characters = 100) {
  const json ours = {{"id", "j-1"},
                     {"label", label},
                     {"by", by},
                     {"detail", detail},
                     {"exit", {{"code", nullptr}, {"signal", nullptr}}},
                     {"stdout", {{"text", out}}},
                     {"stderr", {{"text", "err"}}},
                     {"level", "full"}};
  const Execution::Wish wish{.seconds = "2.5", .characters = characters, .is_by_code = is_by_code};
  const Response response = execute_response(result_of(ours), wish);
  return {response.status, json::parse(response.body)};
}

}  // namespace

TEST_CASE("what is to be executed is a job", "[service][nemo]") {
  const Execution python = execution_of(body());
  CHECK(python.job.template_name == "python");
  CHECK(python.job.source == "print(1)");
  CHECK(python.job.stdin_bytes == "in");
  CHECK(python.job.limits.wall == sys::Milliseconds(2500));
  CHECK(python.job.limits.cpu == sys::Milliseconds(2500));
  CHECK(python.wish.seconds == "2.5");
  CHECK(python.wish.characters == 100);
  CHECK_FALSE(python.wish.is_by_code);
  CHECK(execution_of(body("python3")).job.template_name == "python");
  const Execution shell = execution_of(body("shell"));
  CHECK(shell.job.template_name == "bash");
  CHECK(shell.wish.is_by_code);
  CHECK(execution_of({{"generated_code", ""}, {"timeout", 1}, {"language", "shell"}})
            .wish.characters == 1000);
}

TEST_CASE("what is not offered is 501 and named", "[service][nemo]") {
  for (const char* language : {"lean4", "pypy3"}) {
    CHECK(refusal_of(request_of(body(language).dump()), 501) ==
          "the language " + std::string(language) +
              " is not offered here; use ipython, python or shell\n");
  }
}

TEST_CASE("a cell of ipython names its session, also where no language is said",
          "[service][nemo]") {
  for (const json& cell : {body("ipython"), json{{"generated_code", "1"}, {"timeout", 1}}}) {
    Request request = request_of(cell.dump());
    for (const char* name : {"", "a/b", "\xff"}) {
      request.headers = {{"x-session-id", name}};
      CHECK(refusal_of(request, 400) ==
            "X-Session-ID: expected the name of a session, of 1 to 200 bytes, without /\n");
    }
    request.headers.clear();
    CHECK(refusal_of(request, 400).starts_with("X-Session-ID: expected"));
    request.headers = {{"x-session-id", "5f3e"}};
    auto read = read_execute(request, {});
    REQUIRE(std::holds_alternative<Execution>(read));
    CHECK(std::get<Execution>(read).shell == "5f3e");
  }
  Request other = request_of(body().dump());
  other.headers = {{"x-session-id", "5f3e"}};
  CHECK(std::get<Execution>(read_execute(other, {})).shell.empty());
}

TEST_CASE("a cell is completed if nothing went wrong", "[service][nemo]") {
  const auto answer_to_cell = [](const char* label, const char* by, const char* why_not = "") {
    const json ours = {{"id", "j-1"},
                       {"label", label},
                       {"by", by},
                       {"detail", json::object()},
                       {"exit", {{"code", nullptr}, {"signal", nullptr}}},
                       {"stdout", {{"text", "out"}}},
                       {"stderr", {{"text", "err"}}},
                       {"level", "full"}};
    const Response response = response_of_cell(
        answer_of_cell(result_of(ours), {.seconds = "2.5", .characters = 100}), true, why_not);
    return std::pair(response.status, json::parse(response.body));
  };
  auto [status, answer] = answer_to_cell("OK", "program");
  CHECK(status == 200);
  CHECK(answer == json{{"process_status", "completed"},
                       {"stdout", "out"},
                       {"stderr", "err"},
                       {"new_session_created", true}});
  CHECK(answer_to_cell("OK", "program", "a thread").second.at("stderr") ==
        "err\nzygo: not kept: a thread; the session is as it was before\n");
  CHECK(answer_to_cell("NonZeroExit", "program").second.at("process_status") == "error");
  answer = answer_to_cell("TimeoutException", "limit", "it was stopped").second;
  CHECK(answer.at("process_status") == "timeout");
  CHECK(answer.at("stderr") == "err\nExecution timed out after 2.5 seconds\n");
  CHECK(answer_to_cell("SandboxError", "sandbox").first == 502);
}

TEST_CASE("an uncaught exception is told as the original does", "[service][nemo]") {
  const auto answer_of = [](const char* file, bool is_cell) {
    const std::string head = "Traceback (most recent call last):\n";
    const std::string place = std::string("  File \"") + file + "\", line 1, in <module>\n";
    const std::string traceback = head + place + "    1 / 0\nZeroDivisionError: x\n";
    const json ours = {{"id", "j-1"},
                       {"label", "ZeroDivisionError"},
                       {"by", "program"},
                       {"detail", json::object()},
                       {"exit", {{"code", nullptr}, {"signal", nullptr}}},
                       {"stdout", {{"text", "out"}}},
                       {"stderr", {{"text", "err\n" + traceback}}},
                       {"level", "full"}};
    Execution::Wish wish{.seconds = "2.5", .characters = 1000};
    wish.facts = true;
    runtime::JobResult result = result_of(ours);
    result.exception = runtime::Exception{"ZeroDivisionError", "x", traceback, 1};
    return json::parse((is_cell ? response_of_cell(answer_of_cell(result, wish), true, "")
                                : execute_response(result, wish))
                           .body);
  };
  json answer = answer_of("step 1", true);
  CHECK(answer.at("stdout") ==
        "out\nTraceback (most recent call last):\n    1 / 0\nZeroDivisionError: x\n");
  CHECK(answer.at("stderr") == "err\n");
  answer = answer_of("main.py", false);
  CHECK(answer.at("stdout") == "out");
  CHECK(answer.at("stderr") ==
        "err\nTraceback (most recent call last):\n  File \"<string>\", line 1, in <module>\n"
        "ZeroDivisionError: x\n");
  CHECK(answer.at("zygo").at("label") == "ZeroDivisionError");
}

TEST_CASE("a traceback is told wherever it was written to", "[service][nemo]") {
  const std::string traceback = "Traceback (most recent call last):\nValueError: x\ny\n";
  const auto answers_to = [&traceback](const std::string& err) {
    json ours = {{"id", "j-1"},
                 {"label", "ValueError"},
                 {"by", "program"},
                 {"detail", json::object()},
                 {"exit", {{"code", nullptr}, {"signal", nullptr}}},
                 {"stdout", {{"text", ""}}},
                 {"stderr", {{"text", err}}}};
    runtime::JobResult result = result_of(ours);
    result.exception = runtime::Exception{"ValueError", "x\ny", traceback, 1};
    const Execution::Wish wish{.seconds = "1", .characters = 1000};
    return std::pair(json::parse(response_of_cell(answer_of_cell(result, wish), true, "").body),
                     json::parse(execute_response(result, wish).body));
  };
  auto [cell, program] = answers_to("a\n" + traceback + "b\n");
  CHECK(cell.at("stdout") == traceback);
  CHECK(cell.at("stderr") == "a\nb\n");
  CHECK(program.at("stderr") == "a\n" + traceback + "b\n");
  std::tie(cell, program) = answers_to("a\n");
  CHECK(cell.at("stdout") == traceback);
  CHECK(cell.at("stderr") == "a\n");
  CHECK(program.at("stderr") == "a\n");
}

Execution execution_of_cell(const char* cell) {
  json asked = body("ipython");
  asked["generated_code"] = cell;
  Request request = request_of(asked.dump());
  request.headers = {{"x-session-id", "5f3e"}};
  return std::get<Execution>(read_execute(request, {}));
}

TEST_CASE("a cell that ends in a semicolon shows no value", "[service][nemo]") {
  const auto is_quiet = [](const char* cell) { return execution_of_cell(cell).wish.is_quiet; };
  CHECK(is_quiet("x = 1\nx; \n"));
  CHECK_FALSE(is_quiet("x;\nx"));
  CHECK_FALSE(is_quiet(""));
}

TEST_CASE("code is read as a cell of a notebook, by NeMo", "[service][nemo]") {
  CHECK(execution_of_cell("\n  if a:\n    b").job.source == "if a:\n  b");
}

TEST_CASE("what is no request to execute is 400", "[service][nemo]") {
  const auto refused = [](const char* name, const json& value) {
    json request = body();
    request[name] = value;
    return refusal_of(request_of(request.dump()), 400);
  };
  CHECK(refused("generated_code", 1) == "generated_code: expected a text\n");
  CHECK(refused("generated_code", nullptr) == "generated_code: expected a text\n");
  CHECK(refused("language", "cobol") == "language: \"cobol\" is not known\n");
  for (const json& seconds : {json(0), json("1"), json()})
    CHECK(refused("timeout", seconds) == "timeout: expected a number of seconds above 0\n");
  CHECK(refused("max_output_characters", -1) ==
        "max_output_characters: expected a whole number of at least 0\n");
  CHECK(refused("traceback_verbosity", "plain") ==
        "traceback_verbosity: expected Plain, Minimal, Context or Verbose\n");
  CHECK(refused("zygo", 1) == "zygo: expected true or false\n");
  CHECK(refusal_of(request_of("{"), 400) == "the body is not a JSON object\n");
}

TEST_CASE("a program that ends is completed; a shell's must end well", "[service][nemo]") {
  Answered answered = answer_to("ValueError", "program");
  CHECK(answered.status == 200);
  CHECK(answered.body.at("process_status") == "completed");
  CHECK(answered.body.at("stdout") == "out");
  CHECK(answered.body.at("stderr") == "err");
  CHECK(answered.body.size() == 3);
  CHECK(answer_to("OK", "program", true).body.at("process_status") == "completed");
  CHECK(answer_to("NonZeroExit", "program", true).body.at("process_status") == "error");
}

TEST_CASE("what ended a program otherwise stands behind its errors", "[service][nemo]") {
  json answer = answer_to("TimeoutException", "limit").body;
  CHECK(answer.at("process_status") == "timeout");
  CHECK(answer.at("stdout") == "out");
  CHECK(answer.at("stderr") == "err\nExecution timed out after 2.5 seconds\n");
  answer = answer_to("UnsafeCode", "policy", false, {{"syscall", "socket"}}).body;
  CHECK(answer.at("process_status") == "error");
  CHECK(answer.at("stderr") == "err\nUnsafeCode: {\"syscall\":\"socket\"}\n");
}

TEST_CASE("our own trouble is 502", "[service][nemo]") {
  const Answered answered = answer_to("SandboxError", "sandbox", false, {{"message", "no cell"}});
  CHECK(answered.status == 502);
  CHECK(answered.body.at("stderr") == "err\nSandboxError: no cell\n");
  CHECK(trouble("full").status == 502);
}

TEST_CASE("characters beyond those asked for are cut, never in their middle", "[service][nemo]") {
  const auto cut_at = [](size_t characters) {
    return answer_to("OK", "program", false, json::object(), "a\u00e4\u20ac", characters)
        .body.at("stdout")
        .get<std::string>();
  };
  CHECK(cut_at(3) == "a\u00e4\u20ac");
  CHECK(cut_at(2) == "a\u00e4<output cut>");
  CHECK(cut_at(0) == "<output cut>");
}

}  // namespace service::nemo
