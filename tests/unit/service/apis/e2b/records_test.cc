#include "service/apis/e2b/records.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "service/jupyter/prelude.h"

namespace service::e2b {

using nlohmann::json;

namespace {

runtime::JobResult result_with(runtime::Outcome outcome) {
  runtime::JobResult result;
  result.verdict.outcome = outcome;
  result.verdict.by = runtime::By::kProgram;
  result.step = runtime::StepReport{.node = "n-1", .parent = "n-0", .kept = true};
  return result;
}

json record_in(const std::string& line) {
  REQUIRE(line.ends_with('\n'));
  REQUIRE(line.find('\n') == line.size() - 1);
  return json::parse(line);
}

json shown(const json& data) { return record_in(result_record(data, Is::kMainResult)); }

}  // namespace

TEST_CASE("output is a record with a time, and none where there is none", "[apis][e2b]") {
  const json record = record_in(stream_record("stdout", "a\nb"));

  CHECK(record.at("type") == "stdout");
  CHECK(record.at("text") == "a\nb");
  CHECK(record.contains("timestamp"));
  CHECK(stream_record("stderr", "").empty());
}

TEST_CASE("what is shown is a record, in E2B's names of types", "[apis][e2b]") {
  const json data = {
      {"text/plain", "42"}, {"text/html", "<b>"}, {"image/png", "cG5n"}, {"x/y", "z"}};

  CHECK(shown(data) == json({{"type", "result"},
                             {"is_main_result", true},
                             {"text", "42"},
                             {"html", "<b>"},
                             {"png", "cG5n"},
                             {"extra", json::object({{"x/y", "z"}})}}));
  CHECK(record_in(result_record(data, Is::kDisplayed)).at("is_main_result") == false);
  CHECK(result_record(json::object(), Is::kMainResult).empty());
}

TEST_CASE("charts and data are objects, and nothing else is one", "[apis][e2b]") {
  const json chart = {{"type", "line"}};
  const json record = shown({{jupyter::kChart, chart}, {jupyter::kData, json::object()}});

  CHECK(record.at("chart") == chart);
  CHECK(record.at("data") == json::object());
  CHECK_FALSE(shown({{jupyter::kChart, "line"}}).contains("chart"));
}

TEST_CASE("a type that the SDKs have no name for takes no name of theirs", "[apis][e2b]") {
  const json record = shown({{"type", "a"}, {"is_main_result", "b"}, {"chart", "c"}});

  CHECK(record.at("type") == "result");
  CHECK(record.at("is_main_result") == true);
  CHECK(record.at("extra") == json({{"type", "a"}, {"is_main_result", "b"}, {"chart", "c"}}));
}

TEST_CASE("a text is shown without its quotes", "[apis][e2b]") {
  for (const auto& [text, told] :
       {std::pair("'a'", "a"), {"\"a'\"", "a'"}, {"'", "'"}, {"a'", "a'"}}) {
    CHECK(shown({{"text/plain", text}}).at("text") == told);
  }
}

TEST_CASE("an exception is told as the interpreter tells it", "[apis][e2b]") {
  const CodeEnd end = code_end(result_with(runtime::Outcome::kOk));
  const json said = {
      {"status", "error"}, {"ename", "KeyError"}, {"evalue", "'a'"}, {"traceback", {"one", "two"}}};

  CHECK(
      record_in(last_record(end, said)) ==
      json({{"type", "error"}, {"name", "KeyError"}, {"value", "'a'"}, {"traceback", "one\ntwo"}}));
  CHECK(last_record(end, json{{"status", "ok"}}).empty());
  CHECK(last_record(end, std::nullopt).empty());
}

TEST_CASE("an exception that the interpreter could not tell is the result's", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kException);
  result.exception = runtime::Exception{"KeyError", "'a'", "Traceback ..", 1};

  CHECK(record_in(last_record(code_end(result), std::nullopt)) ==
        json({{"type", "error"},
              {"name", "KeyError"},
              {"value", "'a'"},
              {"traceback", "Traceback .."}}));
}

TEST_CASE("an exit is SystemExit, with its code", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kNonZeroExit);
  result.exit = runtime::ExitStatus{false, 3};

  const json error = record_in(last_record(code_end(result), std::nullopt));
  CHECK(error.at("name") == "SystemExit");
  CHECK(error.at("value") == "3");
}

TEST_CASE("a limit counts, whatever the code says, and the sandbox is as it was", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kTimeout);
  result.verdict.by = runtime::By::kLimit;
  result.step->kept = false;

  const json error = record_in(last_record(code_end(result), json{{"status", "ok"}}));
  CHECK(error.at("name") == "TimeoutException");
  CHECK(error.at("value").get<std::string>().find("as it was before") != std::string::npos);
}

TEST_CASE("what cannot be kept is said, also behind an exception", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kOk);
  result.step->kept = false;
  result.step->why_not = "a second thread";
  const CodeEnd end = code_end(result);

  const json error = record_in(last_record(end, json{{"status", "ok"}}));
  CHECK(error.at("name") == "StateNotKept");
  CHECK(error.at("value").get<std::string>().find("a second thread") != std::string::npos);

  const json said = {
      {"status", "error"}, {"ename", "KeyError"}, {"evalue", "'a'"}, {"traceback", {"one"}}};
  const json both = record_in(last_record(end, said));
  CHECK(both.at("name") == "KeyError");
  CHECK(both.at("traceback").get<std::string>().find("a second thread") != std::string::npos);
}

}  // namespace service::e2b
