#pragma once
// JobLines: turns a line of the input into a job that may run, or into a result at
// once: BadJob for a line that is malformed, repeats an id or is too long, and none for
// a line that --resume skips; or into a request to cancel an earlier job. Gives ids to
// jobs without one and remembers them all, unless any will do. Pure but for that
// memory.

#include <string>
#include <unordered_set>
#include <variant>

#include "runtime/job/job.h"
#include "runtime/job/result.h"
#include "runtime/json/job/job_json.h"
#include "tools/cli/batch/line_reader.h"
#include "tools/cli/batch/resume.h"

namespace cli {

// {"cancel": ID}
struct Withdrawal {
  std::string id;
};

class JobLines {
 public:
  enum class Ids : uint8_t { kUnique, kAny };  // kAny: they may come again; none is remembered

  JobLines(runtime::JobDefaults defaults, EarlierResults earlier, Ids ids = Ids::kUnique)
      : defaults_(std::move(defaults)), earlier_(std::move(earlier)), ids_(ids) {}

  using Read = std::variant<runtime::Job, runtime::JobResult, EarlierResult, Withdrawal>;
  Read read(Line line);

 private:
  bool is_new(const std::string& id);
  std::string generated_id(const Line& line);
  const EarlierResult* earlier_result(const std::string& id) const;
  Read refused(const Line& line, std::string reason, runtime::JobIdentity identity);

  runtime::JobDefaults defaults_;
  EarlierResults earlier_;
  Ids ids_;
  std::unordered_set<std::string> seen_;
};

}  // namespace cli
