#pragma once
// Results with records, as `zygo replay` reads them: from one JSON object, or from lines of them.
// Text comes from anyone, so a record is held against its digests. Pure, but for read_recorded().

#include <string>
#include <string_view>
#include <vector>

#include "runtime/job/job.h"
#include "runtime/job/result.h"
#include "sandbox/sys/result.h"

namespace cli {

struct Recorded {
  runtime::JobResult result;
  runtime::Job job;      // out of its record, to be run again
  std::string place;     // "results.jsonl:3"
  bool fixed = false;    // it asked for the same bytes in each run (determinism.mode)
  std::string obstacle;  // the reason why no other run can be compared with it; empty: none
};

// Why a result with this verdict cannot be compared; empty: it can.
std::string obstacle_of(const runtime::Verdict& verdict);

// An error begins with the path of the member.
sys::Result<Recorded> parse_recorded(std::string_view text);

// All of a file; blank lines are passed over. An error begins with NAME:LINE.
sys::Result<std::vector<Recorded>> parse_all_recorded(const std::string& name,
                                                      std::string_view text);
sys::Result<std::vector<Recorded>> read_recorded(const std::string& path);  // "-": stdin

}  // namespace cli
