#include "runtime/job/result.h"

#include <catch2/catch.hpp>
#include <limits>

namespace runtime {
namespace {

TestResult scored(double score) {
  TestResult test;
  test.given.score = score;
  return test;
}

}  // namespace

TEST_CASE("scores of tests are summed up, and the sum is finite where each of them is", "[job]") {
  constexpr double kMost = std::numeric_limits<double>::max();

  CHECK(summary_of({}).score == std::nullopt);
  CHECK(summary_of({scored(1.5), scored(2)}).score == 3.5);
  CHECK(summary_of({scored(kMost), scored(kMost)}).score == kMost);
  CHECK(summary_of({scored(-kMost), scored(-kMost)}).score == -kMost);
}

TEST_CASE("the bytes of a result are those of its record's digests, too", "[job]") {
  RecordedJob recorded;
  recorded.json = std::string(10, 'j');
  recorded.digests = {.job = "1",
                      .source = "22",
                      .stdin_bytes = "333",
                      .calls = "4444",
                      .files = {{"path", "digest"}, {"p", "d"}}};
  JobResult result;
  result.record = JobRecord{std::make_shared<const RecordedJob>(recorded), nullptr};

  CHECK(bytes_made(result) == 10 + 1 + 2 + 3 + 4 + 10 + 2);
}

}  // namespace runtime
