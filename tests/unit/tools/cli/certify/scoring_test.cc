#include "tools/cli/certify/scoring.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace cli {
namespace {

LabelledJob labelled(std::vector<std::string> labels, bool is_band = false) {
  LabelledJob job;
  job.job.id = "it";
  job.labels = std::move(labels);
  job.is_band = is_band;
  return job;
}

runtime::JobResult ended_as(const std::string& label) {
  runtime::JobResult result;
  result.verdict = runtime::verdict_labelled(label);
  return result;
}

}  // namespace

TEST_CASE("a flip is a label that the corpus does not have", "[cli][certify]") {
  CHECK(likeness_of(labelled({"OK"}), "OK") == Likeness::kAsLabelled);
  CHECK(likeness_of(labelled({"OK", "KeyError"}), "KeyError") == Likeness::kAsLabelled);
  CHECK(likeness_of(labelled({"OK"}), "ok") == Likeness::kFlip);
  CHECK(likeness_of(labelled({"OK"}), "program.OK") == Likeness::kFlip);
  CHECK(likeness_of(labelled({"OK"}), "SandboxError") == Likeness::kFlip);
}

TEST_CASE("near a limit the other side is no flip, but a third label is", "[cli][certify]") {
  const LabelledJob near = labelled({"TimeoutException", "OK"}, true);
  CHECK(likeness_of(near, "TimeoutException") == Likeness::kAsLabelled);
  CHECK(likeness_of(near, "OK") == Likeness::kOtherSide);
  CHECK(likeness_of(near, "MemoryLimitExceeded") == Likeness::kFlip);
}

TEST_CASE("Wilson's interval has the values of the tables", "[cli][certify]") {
  // R: prop.test(x, n, correct = FALSE)
  const auto is = [](size_t hits, size_t trials, double low, double high) {
    const Interval made = wilson_interval(hits, trials);
    INFO(hits << " of " << trials << ": " << made.low << " to " << made.high);
    return std::abs(made.low - low) < 5e-5 && std::abs(made.high - high) < 5e-5;
  };
  CHECK(is(15, 148, 0.0624, 0.1605));  // Newcombe 1998, table I, as are the next three
  CHECK(is(81, 263, 0.2553, 0.3662));
  CHECK(is(0, 20, 0, 0.1611));
  CHECK(is(1, 29, 0.0061, 0.1718));
  CHECK(is(29, 29, 0.8830, 1));
}

TEST_CASE("Wilson's interval holds the rate, and shrinks with the number of jobs",
          "[cli][certify]") {
  double before = 1;
  for (const size_t trials : {1u, 10u, 100u, 1000u, 1000000u}) {
    for (const size_t hits : {size_t{0}, trials / 2, size_t{trials}}) {
      const Interval made = wilson_interval(hits, trials);
      const double rate = static_cast<double>(hits) / static_cast<double>(trials);
      CHECK((0 <= made.low && made.low <= rate && rate <= made.high && made.high <= 1));
    }
    CHECK(wilson_interval(0, trials).high < before);
    before = wilson_interval(0, trials).high;
  }
  CHECK(wilson_interval(0, 0).low == 0);
  CHECK(wilson_interval(0, 0).high == 1);
}

TEST_CASE("a load's row counts flips and, apart from them, the band", "[cli][certify]") {
  Scorer scorer({.load = 4, .faults = true});
  runtime::JobResult late = ended_as("TimeoutException");
  late.usage.contended = true;

  scorer.add(labelled({"OK"}), ended_as("OK"));
  scorer.add(labelled({"OK"}), late);
  scorer.add(labelled({"OK"}), ended_as("SandboxError"));
  scorer.add(labelled({"OK", "TimeoutException"}, true), ended_as("OK"));
  scorer.add(labelled({"OK", "TimeoutException"}, true), ended_as("TimeoutException"));
  scorer.add_lost();

  const LoadRow& row = scorer.row();
  CHECK((row.jobs == 3 && row.flips == 2 && row.band == 2 && row.band_other_side == 1));
  CHECK((row.contended == 1 && row.sandbox_errors == 2));
  REQUIRE(scorer.flips().size() == 2);
  const Flip& flip = scorer.flips().front();
  CHECK((flip.id == "it" && flip.got == "TimeoutException" && flip.contended));
  CHECK((flip.load == 4 && flip.faults));
}

TEST_CASE("a wall limit that was met while the program waited for a CPU counts as contended",
          "[cli][certify]") {
  Scorer scorer({});
  runtime::JobResult late = ended_as("TimeoutException");
  late.verdict.detail = {{"limit", std::string("wall")}, {"contended", true}};

  scorer.add(labelled({"OK"}), late);

  CHECK(scorer.row().contended == 1);
}

TEST_CASE("a job that was lost with its cell runs again, at last when nothing is killed",
          "[cli][certify]") {
  const auto lost = ended_as("SandboxError");
  CHECK(next_for(lost, true, 1) == Next::kAgain);
  CHECK(next_for(lost, true, 3) == Next::kAtTheEnd);
  CHECK(next_for(lost, false, 1) == Next::kScore);
  CHECK(next_for(ended_as("OK"), true, 1) == Next::kScore);
}

TEST_CASE("a random order has each job of a corpus before any comes again", "[cli][certify]") {
  Dice dice(7);
  std::vector<size_t> order = random_order(10, 25, dice);
  REQUIRE(order.size() == 25);
  CHECK_FALSE(std::is_sorted(order.begin(), order.begin() + 10));
  std::sort(order.begin(), order.begin() + 10);
  std::sort(order.begin() + 10, order.begin() + 20);
  CHECK(std::equal(order.begin(), order.begin() + 10, order.begin() + 10));
  CHECK((order.front() == 0 && order[9] == 9));

  CHECK(random_order(10, 3, dice).size() == 3);
  CHECK(random_order(0, 3, dice).empty());
}

TEST_CASE("a load has jobs enough to keep its workers busy", "[cli][certify]") {
  CHECK(jobs_for(1000, 2) == 1000);
  CHECK(jobs_for(10, 128) == 512);
}

}  // namespace cli
