#include "tools/cli/certify/scoring.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/cli/run/verdict_text.h"

namespace cli {
namespace {

constexpr unsigned kAttemptsAmongKills = 3;
constexpr size_t kJobsForAWorker = 4;

bool is_sandbox_error(const runtime::JobResult& result) {
  return result.verdict.outcome == runtime::Outcome::kSandboxError;
}

// Some machines kept a program waiting in the whole, some only until its deadline.
bool is_contended(const runtime::JobResult& result) {
  const runtime::Detail& detail = result.verdict.detail;
  return result.usage.contended ||
         std::find(detail.begin(), detail.end(), runtime::Detail::value_type("contended", true)) !=
             detail.end();
}

}  // namespace

Likeness likeness_of(const LabelledJob& job, std::string_view label) {
  const auto found = std::find(job.labels.begin(), job.labels.end(), label);
  if (found == job.labels.end()) return Likeness::kFlip;
  const bool first = found == job.labels.begin();
  return job.is_band && !first ? Likeness::kOtherSide : Likeness::kAsLabelled;
}

// E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
// the American Statistical Association 22 (1927), 209-212. In contrast to p +- 1.96 s it says
// something where no flip was seen: 0 of 1,000 is below 0.38 %.
Interval wilson_interval(size_t hits, size_t trials) {
  if (trials == 0) return {};
  constexpr double kZ = 1.959963984540054;  // the 97.5th percentile of the normal distribution
  const auto n = static_cast<double>(trials);
  const double p = static_cast<double>(hits) / n;
  const double scale = 1 + kZ * kZ / n;
  const double middle = (p + kZ * kZ / (2 * n)) / scale;
  const double half = kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n)) / scale;
  // At the ends the bound is exact, and rounding would miss it.
  return {hits == 0 ? 0 : std::max(0.0, middle - half),
          hits == trials ? 1 : std::min(1.0, middle + half)};
}

Next next_for(const runtime::JobResult& result, bool kills, unsigned attempt) {
  if (!kills || !is_sandbox_error(result)) return Next::kScore;
  return attempt < kAttemptsAmongKills ? Next::kAgain : Next::kAtTheEnd;
}

Likeness Scorer::add(const LabelledJob& job, const runtime::JobResult& result) {
  const std::string label = result.verdict.label();
  const Likeness likeness = likeness_of(job, label);
  if (is_contended(result)) ++row_.contended;
  if (is_sandbox_error(result)) ++row_.sandbox_errors;
  row_.runs_again += result.usage.reruns;
  // Neither label of the band: then it is a program like others.
  if (job.is_band && likeness != Likeness::kFlip) {
    ++row_.band;
    if (likeness == Likeness::kOtherSide) ++row_.band_other_side;
    return likeness;
  }
  ++row_.jobs;
  if (likeness != Likeness::kFlip) return likeness;
  ++row_.flips;
  flips_.push_back({job.job.id, job.place, job.labels, label, verdict_line(result, Style()),
                    result.verdict.detail, is_contended(result), row_.load, row_.faults});
  return likeness;
}

std::vector<size_t> random_order(size_t corpus, size_t jobs, Dice& dice) {
  std::vector<size_t> order;
  std::vector<size_t> deck(corpus);
  std::iota(deck.begin(), deck.end(), size_t{0});
  while (corpus > 0 && order.size() < jobs) {
    for (size_t left = corpus; left > 1; --left) std::swap(deck[left - 1], deck[dice.below(left)]);
    const size_t taken = std::min(corpus, jobs - order.size());
    order.insert(order.end(), deck.begin(), deck.begin() + static_cast<std::ptrdiff_t>(taken));
  }
  return order;
}

size_t jobs_for(size_t corpus, unsigned workers) {
  return std::max(corpus, kJobsForAWorker * workers);
}

}  // namespace cli
