#include "service/apis/mcp/outcome.h"

#include <catch2/catch.hpp>

#include "runtime/values/value.h"
#include "service/apis/mcp/tool_results.h"

namespace service::mcp {
namespace {

runtime::JobResult ended(runtime::Outcome outcome, runtime::By by) {
  runtime::JobResult result;
  result.verdict.outcome = outcome;
  result.verdict.by = by;
  return result;
}

runtime::JobResult fine() { return ended(runtime::Outcome::kOk, runtime::By::kProgram); }

std::string display_of(std::string_view text, std::string_view png) {
  runtime::Writer writer;
  writer.container(shim::Tag::kDict, png.empty() ? 1 : 2);
  writer.text("text/plain");
  writer.text(text);
  if (!png.empty()) {
    writer.text("image/png");
    writer.bytes(png);
  }
  return writer.take();
}

TEST_CASE("long text keeps its beginning and its end, and says what is left out", "[mcp]") {
  const std::string text = std::string(900, 'a') + std::string(100, 'z');
  const Bounded cut = bounded(text, 100);
  CHECK(cut.left_out == 900);
  CHECK(cut.text ==
        std::string(75, 'a') + "\n[... 900 bytes are left out here ...]\n" + std::string(25, 'z'));
  CHECK(bounded(text, 1000).text == text);
  CHECK(bounded(text, 1000).left_out == 0);
  const Bounded lost = bounded("ab", 10, 7);
  CHECK(lost.left_out == 7);
  CHECK(lost.text == "ab\n[... 7 bytes are left out here ...]\n");
}

TEST_CASE("what a step shows is its text and its images", "[mcp]") {
  runtime::JobResult result = fine();
  result.display = display_of("<Figure>", "\x89PNG\r\n\x1a\n");
  const Outcome outcome = outcome_of(result, {});
  REQUIRE(outcome.value);
  CHECK(outcome.value->text == "<Figure>");
  REQUIRE(outcome.images.size() == 1);
  CHECK(outcome.images[0].type == "image/png");
  CHECK(outcome.images[0].base64 == "iVBORw0KGgo=");

  Bounds bounds;
  bounds.images = 5;
  const Outcome without = outcome_of(result, bounds);
  CHECK(without.images.empty());
  CHECK(without.images_left_out == 1);
}

TEST_CASE("a limit is told with its figures, an exception by its traceback", "[mcp]") {
  runtime::JobResult late = ended(runtime::Outcome::kTimeout, runtime::By::kLimit);
  late.verdict.detail = {{"limit", std::string("cpu")}, {"limit_ms", int64_t{300}}};
  CHECK(outcome_of(late, {}).why == "limit cpu, limit_ms 300");

  runtime::JobResult raised = ended(runtime::Outcome::kException, runtime::By::kProgram);
  raised.verdict.exception_type = "ValueError";
  raised.exception = runtime::Exception{"ValueError", "no", "Traceback\nValueError: no\n", 1};
  const Outcome outcome = outcome_of(raised, {});
  CHECK(outcome.why.empty());
  const Json told = step_result(outcome, {true, "", 2});
  CHECK(told["isError"] == true);
  CHECK(told["content"][0]["text"] == "Traceback\nValueError: no\n");
  CHECK(told["structuredContent"]["error"]["type"] == "ValueError");
  raised.err = {"Traceback\nValueError: no\n", 25, false};
  const Json once = step_result(outcome_of(raised, {}), {true, "", 2});
  CHECK(once["content"][0]["text"] == "[stderr]\nTraceback\nValueError: no\n");
  CHECK(told["structuredContent"]["kept"] == true);
}

TEST_CASE("output that zygo has not kept counts as left out", "[mcp]") {
  runtime::JobResult result = fine();
  result.out = {"ab", 1002, true};
  CHECK(outcome_of(result, {}).left_out() == 1000);
}

TEST_CASE("a file's part is text, an image or bytes", "[mcp]") {
  const ReadFile call{"f", 0, 0};
  const Json text = file_result(call, 3, "abc");
  CHECK(text["structuredContent"]["text"] == "abc");
  CHECK(text["structuredContent"]["left_out"] == 0);
  const Json image = file_result(call, 8, "\x89PNG\r\n\x1a\n");
  CHECK(image["content"][0]["type"] == "image");
  const Json bytes = file_result(call, 2, "\xff\xfe");
  CHECK(bytes["structuredContent"]["base64"] == "//4=");
}

TEST_CASE("a character that is cut belongs to the next part of a file", "[mcp]") {
  const Json part = file_result({"f", 0, 2}, 3, "a\xc3");
  CHECK(part["structuredContent"]["text"] == "a");
  CHECK(part["structuredContent"]["left_out"] == 2);
  CHECK(part["content"][1]["text"] == "[2 more bytes from offset 1 on]");
  CHECK(file_result({"f", 1, 1}, 3, "\xc3")["structuredContent"]["base64"] == "ww==");
}

}  // namespace
}  // namespace service::mcp
