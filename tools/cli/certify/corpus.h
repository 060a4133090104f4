#pragma once
// A corpus: jobs whose labels are known, as lines of a file. A line is a job (docs/jobs.md) with
// one more field, `label`: the label that it must get, or a list of those of which any is right.
// Pure, but for read_corpus().

#include <string>
#include <string_view>
#include <vector>

#include "runtime/job/job.h"
#include "runtime/json/job/job_json.h"
#include "sandbox/sys/result.h"

namespace cli {

struct LabelledJob {
  runtime::Job job;
  std::vector<std::string> labels;
  std::string place;  // "sums.jsonl:3"; empty: it is built in
  // So near to a limit that either of its labels is right. The first is that of a perfect clock.
  bool is_band = false;
};

// An error begins with the field.
sys::Result<LabelledJob> parse_labelled(std::string_view line,
                                        const runtime::JobDefaults& defaults);

// All lines of a file; blank ones are passed over. A job without an id is `job-LINE`. An error
// begins with NAME:LINE.
sys::Result<std::vector<LabelledJob>> parse_corpus(const std::string& name, std::string_view text,
                                                   const runtime::JobDefaults& defaults);

sys::Result<std::vector<LabelledJob>> read_corpus(const std::string& path,  // "-": stdin
                                                  const runtime::JobDefaults& defaults);

}  // namespace cli
