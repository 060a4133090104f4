// The writer of results: any bytes in any field make one line of valid JSON that says the same.

#include <nlohmann/json.hpp>

#include "runtime/json/result/result_json.h"
#include "runtime/values/utf8.h"
#include "sandbox/sys/result.h"
#include "tests/fuzz/input.h"

namespace {

runtime::Detail detail(fuzz::Input& input) {
  runtime::Detail made;
  for (int count = input.byte() % 5; count > 0; --count) {
    // Keys are words of ours, but nothing below relies on it.
    std::string key = input.text();
    switch (input.byte() % 4) {
      case 0:
        made.emplace_back(std::move(key), input.text());
        break;
      case 1:
        made.emplace_back(std::move(key), input.number<int64_t>());
        break;
      case 2:
        made.emplace_back(std::move(key), input.number<double>());
        break;
      default:
        made.emplace_back(std::move(key), input.flag());
    }
  }
  return made;
}

runtime::Output output(fuzz::Input& input) {
  return {input.text(), input.number<uint64_t>(), input.flag()};
}

runtime::JobResult result_of(fuzz::Input& input) {
  runtime::JobResult result;
  result.id = input.text();
  result.verdict.outcome = static_cast<runtime::Outcome>(
      input.byte() % (static_cast<unsigned>(runtime::Outcome::kSandboxError) + 1));
  result.verdict.exception_type = input.text();
  result.verdict.by = static_cast<runtime::By>(input.byte() % 5);
  result.verdict.detail = detail(input);
  if (input.flag()) result.exit = runtime::ExitStatus{input.flag(), input.number<int32_t>()};
  result.out = output(input);
  result.err = output(input);
  result.array = input.flag();
  if (input.flag()) {
    result.exception = runtime::Exception{input.text(), input.text(), input.text(), -1};
  }
  result.usage = {.cpu_us = input.number<int64_t>(),
                  .wall_us = input.number<int64_t>(),
                  .memory_peak_bytes = input.number<int64_t>(),
                  .pids_peak = input.number<uint32_t>(),
                  .contended = input.flag()};
  if (input.flag()) result.usage.stopped_us = input.number<int64_t>();
  result.timing.run = input.number<int64_t>();
  if (input.flag()) {
    result.determinism =
        runtime::DeterminismReport{input.byte(), input.flag(), input.text(), input.text()};
  }
  result.enforced = sandbox::Layers::from_bits(input.number<uint32_t>());
  if (input.flag()) result.level = static_cast<sandbox::Level>(input.byte() % 3);
  result.template_id = input.text();
  result.value = std::string(input.rest());
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const runtime::JobResult result = result_of(input);
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
  return 0;
}
