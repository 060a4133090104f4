#pragma once
// `zygo certify`: runs jobs whose labels are known at several loads, and with cells killed
// meanwhile, and says how often a label was another.

#include <string>
#include <vector>

#include "tools/cli/certify/scoring.h"
#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"
#include "tools/cli/text.h"

namespace cli {

// 0: no flips; 1: there were some; 2: a corpus cannot be read; 125: the host cannot do it; 130:
// interrupted.
int certify_command(const CommandLine& line, const Parts& parts);

// The rest is for tests.
struct Certificate {
  std::string corpus;  // "1000 built-in programs, seed 1"
  uint64_t seed = 0;
  std::string level;
  unsigned cpus = 0;
  std::vector<LoadRow> rows = {};
  std::vector<Flip> flips = {};

  LoadRow total() const;
};
std::string certificate_head(const Certificate& certificate);  // what is run, and the table's head
std::string certificate_row(const LoadRow& row, const Style& style);
std::string flip_line(const Flip& flip);
// The flips, and the summary as the last line.
std::string certificate_end(const Certificate& certificate, const Style& style);
std::string certificate_json(const Certificate& certificate);

}  // namespace cli
