#pragma once
// Jobs out of JSON: `zygo batch` lines, `zygo run` and later the service all come through here. The
// schema is the table of job_fields.h; whatever it does not know is an error that names the path.
// Pure; bytes come from callers we do not know.

#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/job/job.h"
#include "runtime/job/result.h"
#include "runtime/values/parts.h"
#include "sandbox/sys/result.h"

namespace runtime {

inline constexpr size_t kMaxJobBytes = size_t{64} << 20;  // of one line

// The content of a batch's `--defaults FILE`, which lies under each job. Objects are merged by key;
// lists and everything else are replaced.
struct JobDefaults {
  Job job;
};

sys::Result<JobDefaults> parse_defaults(std::string_view json);

// One job. The id is empty when the line has none: the caller makes one.
// `parts` came in front of the line.
sys::Result<Job> parse_job(std::string_view line, const JobDefaults& defaults, Parts parts = {});

// The reference page of all of this, from the table that validates.
std::string jobs_reference_markdown();

// The id and the tag that a line that is no job gives, as far as it can be read.
struct JobIdentity {
  std::string id;            // empty: unreadable
  std::string tag = "null";  // JSON
};
JobIdentity identity_of(std::string_view line);

// The result of a line that is no job. `message` is the error's text; it begins with the path.
JobResult bad_job(size_t line_number, std::string id, std::string tag, std::string message);

}  // namespace runtime
