#pragma once
// Results of which every part says something, and how they are compared.

#include <string>
#include <utility>

#include "runtime/job/result.h"
#include "runtime/json/result/result_json.h"
#include "runtime/remote/job_wire.h"
#include "runtime/remote/wire.h"

namespace runtime {

inline std::string line_of(const JobResult& result) {
  std::string line;
  append_result(result, line);
  return line;
}

// All members: equal bytes are equal results, NaN included.
inline std::string bytes_of(const JobResult& result) {
  WireWriter out;
  write_result(result, out);
  return out.take();
}

// All that JSON tells of a job without tests, in members that it tells whole.
inline JobResult whole_result() {
  JobResult result;
  result.id = "a\n\xC3\xBC";
  result.tag = R"({"k":[1,"\u00e9"]})";
  result.verdict = {Outcome::kNonDeterministic,
                    "",
                    By::kPolicy,
                    {{"axis", "value"}, {"n", int64_t{-1}}, {"r", 0.5}, {"b", true}}};
  result.exit = ExitStatus{.signalled = true, .code = 9};
  result.out = {.bytes = "hi\n\x1B", .total = 400, .truncated = true};
  result.err = {.bytes = "e", .total = 1};
  result.value = std::string("l\1\0\0\0u\5", 7);
  result.exception = Exception{"T", "m", "tb", -1};
  result.usage = {.cpu_us = 1499,
                  .wall_us = 1500,
                  .stopped_us = 1400,
                  .memory_peak_bytes = 4096,
                  .pids_peak = 2,
                  .contended = true,
                  .reruns = 1,
                  .rerun_cpu_us = 1200};
  result.timing = {.admit = 1,
                   .lease = 2,
                   .fork = 3,
                   .confine = 4,
                   .run = 5,
                   .collect = 6,
                   .judge = 7,
                   .rollback = 8};
  result.determinism = DeterminismReport{2, false, "value", "[0]"};
  result.compile = CompileReport{true, 12000};
  result.files.files = {{"a/b", "text", true}, {"c", "\xFF", false}, {"empty", "", false}};
  result.files.refused = {{"d", "too long"}};
  result.observed = {
      {"openat", ObservedCall::Treatment::kAllowed, 0, "", 5, sandbox::Profile::kPure},
      {"memfd_create", ObservedCall::Treatment::kQuietly, 38, "", 1, sandbox::Profile::kDefault},
      {"socket", ObservedCall::Treatment::kRefused, 1, "AF_INET", 2, std::nullopt}};
  result.enforced = sandbox::Layers().with(sandbox::Layer::kSeccomp).with(sandbox::Layer::kUserNs);
  result.level = sandbox::Level::kContained;
  result.template_id = "python@sha256:00";
  return result;
}

inline JobResult result_with_tests() {
  JobResult result = whole_result();
  result.determinism.reset();
  result.verdict = {Outcome::kWrongAnswer, "", By::kCaller, {{"test", "second"}}};
  TestResult passed, failed, skipped;
  passed.name = "first";
  passed.verdict = {Outcome::kOk, "", By::kProgram, {}};
  passed.exit = ExitStatus{};
  passed.out = {.bytes = "1", .total = 1};
  passed.usage = {.cpu_us = 10, .wall_us = 20};
  passed.given = {.score = 1.5, .multiplier = 0.25};
  passed.feedback = {.files = {{"feedback/report", "words"}}, .refused = {{"feedback/big", "big"}}};
  failed = passed;
  failed.name = "second";
  failed.verdict = {Outcome::kException, "ValueError", By::kProgram, {{"line", int64_t{2}}}};
  failed.exit = ExitStatus{.signalled = false, .code = 1};
  failed.exception = Exception{"ValueError", "m", "tb", -1};
  failed.given = {.score = 0.25, .multiplier = std::nullopt};
  skipped.name = "third";
  skipped.skipped = true;
  result.tests = {passed, failed, skipped};
  return result;
}

}  // namespace runtime
