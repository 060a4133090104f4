// The writer of results: any bytes in any field make one line of valid JSON that says the same, and
// that the reader of results takes and would write again.

#include <nlohmann/json.hpp>

#include "runtime/json/result/result_json.h"
#include "runtime/json/result/result_reader.h"
#include "runtime/values/utf8.h"
#include "sandbox/sys/result.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/runtime/any_result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const runtime::JobResult result = fuzz::any_result(input);
  std::string line;
  append_result(result, line);

  VERIFY(line.find('\n') == std::string::npos);
  VERIFY(runtime::is_utf8(line));
  const auto parsed = nlohmann::json::parse(line, nullptr, false);
  VERIFY(parsed.is_object());
  VERIFY(parsed["id"] == runtime::repaired_utf8(result.id));
  VERIFY(parsed["label"] == runtime::repaired_utf8(result.verdict.label()));
  VERIFY(parsed["ok"] == result.verdict.ok());
  VERIFY(parsed["stdout"]["text"] == runtime::repaired_utf8(result.out.bytes));
  VERIFY(parsed["stderr"]["lossy"] == !runtime::is_utf8(result.err.bytes));
  VERIFY(parsed.contains("exception") == result.exception.has_value());
  VERIFY(parsed["detail"].is_object() && parsed["enforced"].is_array());

  const auto read = runtime::parse_result(line);
  VERIFY(read.ok());
  std::string again;
  append_result(*read, again);
  VERIFY(again == line);
  return 0;
}
