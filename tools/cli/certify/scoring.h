#pragma once
// Compares results with the labels that a corpus says, and counts them by load. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/job/result.h"
#include "tools/cli/certify/corpus.h"
#include "tools/cli/certify/dice.h"

namespace cli {

// kOtherSide: the other label of a program so near to a limit that both are right.
enum class Likeness { kAsLabelled, kOtherSide, kFlip };
Likeness likeness_of(const LabelledJob& job, std::string_view label);

// Of a rate that was seen as `hits` of `trials`, with a confidence of 95 %.
struct Interval {
  double low = 0, high = 1;
};
Interval wilson_interval(size_t hits, size_t trials);

struct Flip {
  std::string id, place;  // as LabelledJob has them
  std::vector<std::string> expected;
  std::string got;
  std::string seen;  // the verdict in a line
  runtime::Detail detail;
  bool contended = false;
  unsigned load = 0;
  bool faults = false;
};

// A round: all jobs at one load, with or without faults.
struct LoadRow {
  unsigned load = 0, workers = 0;
  bool faults = false;
  size_t jobs = 0, flips = 0;            // without those of the band
  size_t band = 0, band_other_side = 0;  // these
  size_t contended = 0;
  size_t sandbox_errors = 0;  // also those that were run again
  size_t kills = 0, daemon_kills = 0;
  size_t runs_again = 0;  // jobs that were lost, and those that were judged anew
  double seconds = 0;

  double rate() const {
    return jobs == 0 ? 0 : static_cast<double>(flips) / static_cast<double>(jobs);
  }
  double band_rate() const {
    return band == 0 ? 0 : static_cast<double>(band_other_side) / static_cast<double>(band);
  }
};

// Where cells are killed, SandboxError is the right answer of a job that was in one, and says that
// a retry is safe: the job runs again. Long jobs would be lost for ever, so one that was lost some
// times runs at the end, when nothing is killed any more; then, as without faults, it is a flip.
enum class Next { kScore, kAgain, kAtTheEnd };
Next next_for(const runtime::JobResult& result, bool kills, unsigned attempt);

class Scorer {
 public:
  explicit Scorer(LoadRow row) : row_(row) {}
  Likeness add(const LabelledJob& job, const runtime::JobResult& result);
  void add_lost() {
    ++row_.sandbox_errors, ++row_.runs_again;
  }  // a SandboxError of a job that is run again
  LoadRow& row() { return row_; }
  const std::vector<Flip>& flips() const { return flips_; }

 private:
  LoadRow row_;
  std::vector<Flip> flips_;
};

// Indices of a corpus in a random order: each once, and then once again, until there are so many.
std::vector<size_t> random_order(size_t corpus, size_t jobs, Dice& dice);

// How many jobs a load needs, so that so many workers are busy most of the time.
size_t jobs_for(size_t corpus, unsigned workers);

}  // namespace cli
