#pragma once
// --resume: reads the results file of an earlier run.

#include <cstddef>
#include <string>
#include <unordered_map>

#include "sandbox/sys/result.h"
#include "tools/cli/batch/tally.h"

namespace cli {

struct EarlierResult {
  std::string label;
  Tally::Kind kind = Tally::Kind::kVerdict;
};

struct EarlierResults {
  std::unordered_map<std::string, EarlierResult> by_id;  // without the Cancelled ones
  size_t keep = 0;             // bytes of the file that are whole results; what follows is torn
  bool wants_newline = false;  // the last result lacks only its newline
};

// Reads from the start of `fd`. A last line without an end is torn and not kept; any other line
// that is not a result is an error: then it is not our file, and nothing of it is touched.
sys::Result<EarlierResults> read_results(int fd);

// Cuts the torn end off and leaves `fd` (opened to append) ready for more lines.
sys::Result<void> mend_results(int fd, const EarlierResults& earlier);

}  // namespace cli
