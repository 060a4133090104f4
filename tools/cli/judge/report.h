#pragma once
// The output of `zygo judge`: a table for people, a JSON object per submission for programs. Pure.

#include <optional>
#include <string>

#include "tools/cli/judge/jury.h"
#include "tools/cli/judge/promise.h"
#include "tools/cli/text.h"

namespace cli {

// The time limit of the submissions, and its origin.
struct Measure {
  sys::Milliseconds time_limit{0};
  std::optional<int64_t> slowest_us;  // the time limit is derived from it
  double multiplier = 1;
};

// A submission, and the promised result where it is an example.
struct Row {
  Judged judged;
  std::optional<Promise> promise;
  std::optional<ScoreRange> score_promise = {};

  // Promises of problems from 2023-07 on are about tests, whatever the score.
  bool good() const {
    if (!promise) return true;
    const bool partial = judged.word == Word::kAC && !judged.has_best_score;
    const Word word = partial ? Word::kPAC : judged.word;
    const bool is_judged = judged.word != Word::kJE;
    return keeps(*promise, is_judged ? judged.first_word.value_or(word) : word) && good_score();
  }
  bool good_score() const {
    return !score_promise || !judged.score || is_within(*judged.score, *score_promise);
  }
};

// "sum: 5 tests, time limit 1 s (5 x 0.03 s, the slowest accepted submission), memory 512 MiB"
std::string heading(const Package& package, const Measure& measure);

// The columns of submissions whose longest path and language are so wide.
struct Columns {
  size_t path = 10, language = 8;
  bool expected = false, scores = false;
};
std::string table_head(const Columns& columns, const Style& style);
std::string table_row(const Row& row, const Columns& columns, const Style& style);
// Below the row of a scoring problem, a line for each group that was judged:
// "    secret/small  AC    40".
std::string groups_text(const Judged& judged);

std::string row_json(const Row& row, const Measure& measure, const Columns& columns);

// "accepted/sum.cpp  3/5  secret/03  AC"
std::string progress_text(const SourceProgram& program, const TestVerdict& test, size_t done,
                          size_t total);

}  // namespace cli
