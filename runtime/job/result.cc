#include "runtime/job/result.h"

#include <algorithm>
#include <limits>

namespace runtime {

namespace {

// Two finite scores may have an infinite sum, which JSON cannot express.
double bounded_sum(double one, double other) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return std::clamp(one + other, -kMost, kMost);
}

}  // namespace

TestSummary summary_of(const std::vector<TestResult>& tests) {
  TestSummary summary;
  for (const TestResult& test : tests) {
    ++summary.total;
    ++(test.skipped ? summary.skipped : test.verdict.ok() ? summary.passed : summary.failed);
    if (!test.skipped && test.given.score)
      summary.score = bounded_sum(summary.score.value_or(0), *test.given.score);
  }
  return summary;
}

namespace {

size_t bytes_of(const RecordedJob& recorded) {
  const JobDigests& digests = recorded.digests;
  size_t bytes = recorded.json.size() + digests.job.size() + digests.source.size() +
                 digests.stdin_bytes.size() + digests.calls.size();
  for (const auto& [path, digest] : digests.files) bytes += path.size() + digest.size();
  return bytes;
}

}  // namespace

size_t bytes_made(const JobResult& result) {
  constexpr size_t kOfCall = 128;  // an observed call, about
  size_t bytes = result.out.bytes.size() + result.err.bytes.size() + result.value.size() +
                 result.display.size() + result.observed.size() * kOfCall;
  for (const TestResult& test : result.tests) {
    bytes += test.out.bytes.size() + test.err.bytes.size();
    for (const InputFile& file : test.feedback.files) bytes += file.content.size();
  }
  for (const InputFile& file : result.files.files) bytes += file.content.size();
  if (result.record) bytes += bytes_of(*result.record->job);
  return bytes;
}

}  // namespace runtime
