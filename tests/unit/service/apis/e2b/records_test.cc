#include "service/apis/e2b/records.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runtime/values/value.h"

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

std::vector<json> lines_in(const std::string& records) {
  std::vector<json> lines;
  for (size_t at = 0; at < records.size();) {
    const size_t end = records.find('\n', at);
    REQUIRE(end != records.npos);
    lines.push_back(json::parse(records.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

std::string display_of(const std::vector<std::pair<std::string, std::string>>& bytes_by_type,
                       const std::string& text) {
  runtime::Writer shown;
  shown.container(shim::Tag::kDict, static_cast<uint32_t>(bytes_by_type.size() + 1));
  shown.text("text/plain");
  shown.text(text);
  for (const auto& [type, bytes] : bytes_by_type) {
    shown.text(type);
    type == "image/png" ? shown.bytes(bytes) : shown.text(bytes);
  }
  return shown.take();
}

}  // namespace

TEST_CASE("output and what is shown are records, in E2B's names of types", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kOk);
  result.out.bytes = "out\n";
  result.err.bytes = "\xff";
  result.display = display_of({{"text/html", "<b>"}, {"image/png", "png"}, {"x/y", "z"}}, "42");

  const auto lines = lines_in(records_of(result, "x"));

  REQUIRE(lines.size() == 3);
  CHECK(lines[0].at("type") == "stdout");
  CHECK(lines[0].at("text") == "out\n");
  CHECK(lines[0].contains("timestamp"));
  CHECK(lines[1].at("text") == "\xEF\xBF\xBD");
  CHECK(lines[2] == json({{"type", "result"},
                          {"is_main_result", true},
                          {"text", "42"},
                          {"html", "<b>"},
                          {"png", "cG5n"},
                          {"extra", json::object({{"x/y", "z"}})}}));
}

TEST_CASE("a type that the SDKs have no name for takes no name of theirs", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kOk);
  result.display = display_of({{"type", "a"}, {"is_main_result", "b"}, {"chart", "c"}}, "42");

  const json record = lines_in(records_of(result, "x")).back();

  CHECK(record.at("type") == "result");
  CHECK(record.at("is_main_result") == true);
  CHECK(record.at("extra") == json({{"type", "a"}, {"is_main_result", "b"}, {"chart", "c"}}));
}

TEST_CASE("what a program says of itself need not be of a kind that shows it", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kOk);
  runtime::Writer shown;
  shown.container(shim::Tag::kDict, 2);
  for (const char* type : {"text/plain", "text/html"}) {
    shown.text(type);
    shown.array();
    shown.text("<i8");
    shown.container(shim::Tag::kList, 1);
    shown.integer(1);
    shown.container(shim::Tag::kList, 1);
    shown.integer(7);
  }
  result.display = shown.take();

  const json record = lines_in(records_of(result, "x")).back();

  CHECK(record.at("text").is_string());
  CHECK(record.at("html").is_string());
  result.display = "broken";
  CHECK(records_of(result, "x").empty());
}

TEST_CASE("a semicolon at the end hides the value", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kOk);
  result.display = display_of({}, "42");

  CHECK(records_of(result, "x; \n").empty());
  CHECK_FALSE(records_of(result, "x").empty());
}

TEST_CASE("an exception is told as it is", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kException);
  result.exception = runtime::Exception{"KeyError", "'a'", "Traceback ..", 1};

  CHECK(lines_in(records_of(result, "{}['a']")).back() == json({{"type", "error"},
                                                                {"name", "KeyError"},
                                                                {"value", "'a'"},
                                                                {"traceback", "Traceback .."}}));
}

TEST_CASE("commands of a shell are no Python, and the error says so", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kException);
  result.exception = runtime::Exception{"SyntaxError", "invalid syntax", "", 2};

  const auto value_for = [&](const char* code) {
    return lines_in(records_of(result, code)).back().at("value").get<std::string>();
  };
  CHECK(value_for("a\n  !pip install b").find("cannot be installed") != std::string::npos);
  CHECK(value_for("a\n%matplotlib inline").find("not offered") != std::string::npos);
  CHECK(value_for("!\na b") == "invalid syntax");
  CHECK(value_for("!") == "invalid syntax");
}

TEST_CASE("an exit is SystemExit, with its code", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kNonZeroExit);
  result.exit = runtime::ExitStatus{false, 3};

  const auto error = lines_in(records_of(result, "")).back();
  CHECK(error.at("name") == "SystemExit");
  CHECK(error.at("value") == "3");
}

TEST_CASE("whoever meets a limit is told that the sandbox is as it was", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kTimeout);
  result.verdict.by = runtime::By::kLimit;
  result.step->kept = false;
  result.out.bytes = "so far";

  const auto lines = lines_in(records_of(result, ""));
  REQUIRE(lines.size() == 2);
  CHECK(lines[1].at("name") == "TimeoutException");
  CHECK(lines[1].at("value").get<std::string>().find("as it was before") != std::string::npos);
}

TEST_CASE("a text is shown without its quotes", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kOk);
  for (const auto& [shown, told] :
       {std::pair("'a'", "a"), {"\"a'\"", "a'"}, {"'", "'"}, {"a'", "a'"}}) {
    result.display = display_of({}, shown);
    CHECK(lines_in(records_of(result, "x")).back().at("text") == told);
  }
}

TEST_CASE("a traceback is no output", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kException);
  result.exception = runtime::Exception{"KeyError", "'a'", "Traceback ..", 1};
  result.err.bytes = "mine\nTraceback ..";

  const auto lines = lines_in(records_of(result, ""));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].at("text") == "mine\n");
}

TEST_CASE("a call for the network is refused in a sentence", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kUnsafeCode);
  result.verdict.by = runtime::By::kPolicy;
  result.verdict.detail = {{"syscall", std::string("socket")}};
  result.exception = runtime::Exception{"PermissionError", "", "", 1};

  const auto error = lines_in(records_of(result, "")).back();
  CHECK(error.at("name") == "UnsafeCode");
  CHECK(error.at("value").get<std::string>().starts_with("there is no network in a sandbox"));
}

TEST_CASE("what cannot be kept is said, also behind an exception", "[apis][e2b]") {
  runtime::JobResult result = result_with(runtime::Outcome::kOk);
  result.step->kept = false;
  result.step->why_not = "a second thread";

  const auto error = lines_in(records_of(result, "")).back();
  CHECK(error.at("name") == "StateNotKept");
  CHECK(error.at("value").get<std::string>().find("a second thread") != std::string::npos);

  result.verdict.outcome = runtime::Outcome::kException;
  result.exception = runtime::Exception{"KeyError", "'a'", "Traceback ..", 1};
  const auto both = lines_in(records_of(result, ""));
  REQUIRE(both.size() == 1);
  CHECK(both[0].at("name") == "KeyError");
  CHECK(both[0].at("traceback").get<std::string>().find("a second thread") != std::string::npos);
}

}  // namespace service::e2b
