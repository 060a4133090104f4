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

}  // namespace runtime
