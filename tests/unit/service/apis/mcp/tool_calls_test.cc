#include "service/apis/mcp/tool_calls.h"

#include <catch2/catch.hpp>
#include <set>

namespace service::mcp {
namespace {

ToolCall call(const char* name, const Json& arguments) {
  auto read = read_call({{"name", name}, {"arguments", arguments}});
  INFO((read ? "" : read.error().text()));
  REQUIRE(read.ok());
  return *std::move(read);
}

TEST_CASE("arguments of each tool are read", "[mcp]") {
  const auto python = std::get<RunPython>(call("run_python", {{"code", "1"}, {"timeout_ms", 500}}));
  CHECK(python.code == "1");
  CHECK(python.timeout_ms == 500);
  const auto tried = std::get<TryMany>(call("try_many", {{"codes", {"a", "b"}}, {"keep", 1}}));
  CHECK(tried.codes == std::vector<std::string>{"a", "b"});
  CHECK(tried.keep == 1u);
  CHECK_FALSE(std::get<TryMany>(call("try_many", {{"codes", {"a"}}})).keep);
  CHECK(std::get<Undo>(call("undo", Json::object())).steps == 1);
  CHECK(std::get<Undo>(call("undo", {{"steps", 3}})).steps == 3);
  CHECK(std::get<Undo>(call("undo", {{"steps", 3.0}})).steps == 3);  // JSON Schema's integer
  const auto file = std::get<ReadFile>(call("read_file", {{"path", "f"}, {"offset", 9}}));
  CHECK(file.offset == 9);
  CHECK(file.length == 0);
  CHECK(std::get<WriteFile>(call("write_file", {{"path", "f"}, {"base64", ""}})).is_base64);
  const auto program = std::get<RunProgram>(
      call("run_program", {{"language", "c"}, {"source", "s"}, {"stdin", "i"}}));
  CHECK(program.standard_in == "i");
}

TEST_CASE("a wrong argument is named", "[mcp]") {
  const auto [name, arguments, why] = GENERATE(table<std::string, Json, std::string>(
      {{"rm", Json::object(), "name: there is no tool \"rm\""},
       {"run_python", Json::object(), "code: required"},
       {"run_python", {{"code", 1}}, "code: expected a string"},
       {"run_python", {{"code", ""}, {"cwd", ""}}, "cwd: this tool has no such argument"},
       {"run_python",
        {{"code", ""}, {"timeout_ms", 0}},
        "timeout_ms: expected a whole number, 1 to 3600000"},
       {"run_python",
        {{"code", ""}, {"timeout_ms", 18446744073709551615u}},
        "timeout_ms: expected a whole number, 1 to 3600000"},
       {"try_many", {{"codes", Json::array()}}, "codes: expected a list of 1 to 64 programs"},
       {"try_many", {{"codes", Json::array({1})}}, "codes: expected strings"},
       {"try_many",
        {{"codes", Json::array({"a"})}, {"keep", 1}},
        "keep: expected a whole number, 0 to 0"},
       {"undo", {{"steps", 0.5}}, "steps: expected a whole number, 1 to 1000000"},
       {"undo", {{"steps", 1e300}}, "steps: expected a whole number, 1 to 1000000"},
       {"write_file", {{"path", "f"}}, "text: expected either text or base64"},
       {"write_file",
        {{"path", "f"}, {"text", ""}, {"base64", ""}},
        "text: expected either text or base64"}}));
  const auto read = read_call({{"name", name}, {"arguments", arguments}});
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().text() == why);
}

TEST_CASE("arguments are an object or left out", "[mcp]") {
  CHECK(read_call({{"name", "undo"}}).ok());
  CHECK_FALSE(read_call({{"name", "undo"}, {"arguments", Json::array()}}).ok());
  CHECK_FALSE(read_call({{"arguments", Json::object()}}).ok());
}

TEST_CASE("every tool that is listed is one, and its schema names what it takes", "[mcp]") {
  const Json tools = tool_list(true)["tools"];
  CHECK(tools.size() == 6);
  for (const Json& tool : tools) {
    INFO(tool["name"]);
    const Json& input = tool["inputSchema"];
    CHECK(input["type"] == "object");
    CHECK(tool["outputSchema"]["type"] == "object");
    CHECK(tool["annotations"].size() == 5);
    const auto unknown = read_call({{"name", tool["name"]}, {"arguments", {{"?", 1}}}});
    REQUIRE_FALSE(unknown.ok());
    for (const auto& [name, schema] : input["properties"].items()) {
      // Of a wrong type, so that it is not passed over.
      const auto read =
          read_call({{"name", tool["name"]}, {"arguments", {{name, Json::object()}}}});
      REQUIRE_FALSE(read.ok());
      CHECK(read.error().text().find("no such argument") == std::string::npos);
    }
  }
}

TEST_CASE("structure and titles are told to those who know them", "[mcp]") {
  const Json list = tool_list(false);
  for (const Json& tool : list.at("tools")) {
    CHECK_FALSE(tool.contains("outputSchema"));
    CHECK_FALSE(tool.contains("title"));
  }
}

TEST_CASE("a language has the names that people give it", "[mcp]") {
  CHECK(template_of("C++") == "cpp");
  CHECK(template_of("node") == "javascript");
  CHECK(template_of("lua") == "lua");
}

}  // namespace
}  // namespace service::mcp
