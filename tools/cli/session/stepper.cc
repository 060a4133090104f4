#include "tools/cli/session/stepper.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/json/job/job_json.h"
#include "runtime/values/value.h"
#include "tools/cli/run/one_job.h"

namespace cli {

namespace {

constexpr const char* kAsksForMore = R"(
def asks_for_more(text):
    import codeop, warnings
    warnings.simplefilter("ignore")
    try:
        return codeop.compile_command(text, "step", "single") is None
    except (SyntaxError, ValueError, OverflowError):
        return False
)";

}  // namespace

runtime::Job Stepper::job_of(std::string_view source, const std::string& node) {
  runtime::Job job = common_;
  job.id = fmt::format("step-{}", ++jobs_);
  job.shell = is_command(source);
  job.source = source.substr(job.shell ? 1 : 0);
  job.session = node.empty() ? runtime::kNewSession : node;
  return job;
}

runtime::JobResult Stepper::run(std::string_view source, const std::string& node,
                                LiveOutput* output) {
  runtime::Job job = job_of(source, node);
  return output ? run_live(engine_, std::move(job), stop_, *output)
                : run_one(engine_, std::move(job), stop_);
}

std::vector<runtime::JobResult> Stepper::try_all(const std::vector<std::string>& sources,
                                                 const std::string& node) {
  std::vector<runtime::Job> jobs;
  for (const std::string& source : sources) jobs.push_back(job_of(source, node));
  return run_all(engine_, std::move(jobs), stop_);
}

bool Stepper::is_incomplete(const std::string& source) {
  const nlohmann::json fields = {
      {"source", kAsksForMore}, {"mode", "call"}, {"func", "asks_for_more"}, {"inputs", {source}}};
  const std::string line = fields.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  sys::Result<runtime::Job> job = runtime::parse_job(line, runtime::JobDefaults{});
  if (!job) return false;
  job->id = fmt::format("look-{}", ++jobs_);
  job->template_name = common_.template_name;
  const runtime::JobResult result = run_one(engine_, std::move(*job), stop_);
  std::string value;
  if (!result.value.empty()) runtime::append_json(result.value, false, value);
  return value == "[true]";
}

}  // namespace cli
