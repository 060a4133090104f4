#pragma once
// A result out of the bytes of an input: any bytes in any field, and values of every form, also
// those that no Python has: sets of lists, keys twice, arrays without an array.

#include <optional>
#include <string>
#include <utility>

#include "runtime/job/result.h"
#include "runtime/json/job/job_record.h"
#include "runtime/values/utf8.h"
#include "runtime/values/value.h"
#include "tests/fuzz/input.h"

namespace fuzz {

inline runtime::Detail any_detail(Input& input) {
  runtime::Detail made;
  for (int count = input.byte() % 5; count > 0; --count) {
    // Keys are words of ours, but nothing relies on it.
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

inline runtime::Output any_output(Input& input) {
  return {input.text(), input.number<uint64_t>(), input.flag()};
}

inline runtime::Usage any_usage(Input& input) {
  runtime::Usage usage{.cpu_us = input.number<int64_t>(),
                       .wall_us = input.number<int64_t>(),
                       .memory_peak_bytes = input.number<int64_t>(),
                       .pids_peak = input.number<uint32_t>(),
                       .contended = input.flag()};
  if (input.flag()) usage.stopped_us = input.number<int64_t>();
  if (input.flag()) {
    usage.reruns = 1;
    usage.rerun_cpu_us = input.number<int64_t>();
  }
  return usage;
}

// Fills in the members that results and tests have alike.
template <typename Run>
void any_run(Input& input, Run& run) {
  run.verdict.outcome = static_cast<runtime::Outcome>(
      input.byte() % (static_cast<unsigned>(runtime::Outcome::kSandboxError) + 1));
  run.verdict.exception_type = input.text();
  run.verdict.by = static_cast<runtime::By>(input.byte() % 5);
  run.verdict.detail = any_detail(input);
  if (input.flag()) run.exit = runtime::ExitStatus{input.flag(), input.number<int32_t>()};
  run.out = any_output(input);
  run.err = any_output(input);
  if (input.flag())
    run.exception = runtime::Exception{input.text(), input.text(), input.text(), -1};
  run.usage = any_usage(input);
}

// A score is a number, bounded by those who read one.
inline std::optional<double> any_score(Input& input) {
  if (!input.flag()) return std::nullopt;
  return static_cast<double>(input.number<int32_t>()) / 7;
}

inline void any_tests(Input& input, std::vector<runtime::TestResult>& tests) {
  for (int count = input.byte() % 4; count > 0; --count) {
    runtime::TestResult& test = tests.emplace_back();
    test.name = input.text();
    test.skipped = input.flag();
    if (test.skipped) continue;
    any_run(input, test);
    test.given = {any_score(input), any_score(input)};
  }
}

inline void any_files(Input& input, runtime::OutputFiles& files) {
  for (int count = input.byte() % 4; count > 0; --count)
    files.files.push_back({input.text(), input.text(), input.flag()});
  for (int count = input.byte() % 4; count > 0; --count)
    files.refused.push_back({input.text(), input.text()});
}

inline void any_calls(Input& input, std::vector<runtime::ObservedCall>& calls) {
  for (int count = input.byte() % 4; count > 0; --count) {
    runtime::ObservedCall& call = calls.emplace_back();
    call.name = input.text();
    call.treatment = static_cast<runtime::ObservedCall::Treatment>(input.byte() % 3);
    call.error = input.number<int32_t>();
    call.argument = input.text();
    call.count = input.number<uint64_t>();
    if (input.flag()) call.needs = static_cast<sandbox::Profile>(input.byte() % 4);
  }
}

// One value of the format, at most so many containers deep.
inline void any_value(Input& input, unsigned depth, runtime::Writer& out) {
  using shim::Tag;
  constexpr Tag kContainers[] = {Tag::kList, Tag::kTuple, Tag::kSet, Tag::kFrozenSet, Tag::kDict};
  const unsigned kind = input.byte() % (depth == 0 ? 8 : 14);
  switch (kind) {
    case 0:
      return out.none();
    case 1:
      return out.boolean(input.flag());
    case 2:
      return out.integer(input.number<int64_t>());
    case 3:  // not so long that the library, which reads doubles, would refuse it
      return out.big_integer((input.flag() ? "-1" : "1") + std::string(input.byte(), '0'));
    case 4:
      return out.number(input.number<double>());
    case 5: {
      const double real = input.number<double>();
      return out.complex(real, input.number<double>());
    }
    case 6:
      return out.text(input.flag() ? "$type" : runtime::repaired_utf8(input.text()));
    case 7:
      return out.bytes(input.text());
    case 8: {  // dtype and shape are those of no data
      out.array();
      out.text(runtime::repaired_utf8(input.text()));
      const uint32_t dimensions = input.byte() % 65;
      out.container(Tag::kList, dimensions);
      for (uint32_t i = 0; i < dimensions; ++i) out.integer(i * 100);
      return any_value(input, depth - 1, out);
    }
    default:
      break;
  }
  const Tag tag = kContainers[kind - 9];
  const uint32_t count = input.byte() % 4;
  out.container(tag, count);
  for (uint32_t i = 0; i < count * (tag == Tag::kDict ? 2 : 1); ++i)
    any_value(input, depth - 1, out);
}

inline runtime::JobResult any_result(Input& input) {
  runtime::JobResult result;
  result.id = input.text();
  any_run(input, result);
  result.array = input.flag();
  result.timing.run = input.number<int64_t>();
  if (input.flag()) {
    result.determinism =
        runtime::DeterminismReport{input.byte(), input.flag(), input.text(), input.text()};
  }
  result.enforced = sandbox::Layers::from_bits(input.number<uint32_t>());
  if (input.flag()) result.level = static_cast<sandbox::Level>(input.byte() % 3);
  result.template_id = input.text();
  if (input.flag()) result.compile = runtime::CompileReport{input.flag(), input.number<int64_t>()};
  any_tests(input, result.tests);
  any_files(input, result.files);
  any_calls(input, result.observed);
  if (input.flag()) {
    runtime::Writer value;
    any_value(input, 6, value);
    result.value = value.take();
  } else {
    result.value = std::string(input.rest());
  }
  if (input.flag()) {
    runtime::JobSpec job;
    job.source = input.text();
    if (auto recorded = runtime::record_of(job))
      result.record = {std::make_shared<runtime::RecordedJob>(*std::move(recorded)), nullptr};
  }
  return result;
}

}  // namespace fuzz
