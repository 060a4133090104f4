#include "runtime/json/job/job_rules.h"

#include "runtime/json/job/job_parts.h"

namespace runtime {

const char* objection_to_tests(const Job& job) {
  const bool calls = job.mode == shim::Mode::kCall;
  if (job.interactor && calls) return "interactor: only in script mode";
  if (job.interactor && job.tests.empty())
    return "interactor: needs tests (one with an empty stdin will do)";
  for (const TestCase& test : job.tests) {
    const bool gives_script_fields = !test.stdin_bytes.empty() || !test.argv.empty();
    if (calls && gives_script_fields) return "tests: stdin and argv only in script mode";
    if (calls && test.calls.empty()) return "tests: each needs args (or kwargs) in call mode";
    if (!calls && !test.calls.empty()) return "tests: args and kwargs only in call mode";
    if (test.comparator != Comparator::kChecker) continue;
    if (job.interactor) return "tests: compare is not used beside an interactor, which decides";
    if (calls) return "tests: a checker looks at output, so it needs script mode";
    if (!job.checker) return "checker: required where a test is compared by it";
    if (!test.expect) return "tests: a test compared by a checker needs expect (may be \"\")";
  }
  return nullptr;
}

const char* objection_to_step(const Job& job) {
  if (job.shell && !job.is_step()) return "mode: shell is for steps of sessions";
  if (!job.keep && !job.is_step()) return "keep: for steps of sessions";
  if (job.seed != 0 && !job.is_step()) return "seed: for steps of sessions";
  if (!job.is_step()) return nullptr;
  if (job.shell && job.policy.profile < sandbox::Profile::kSubprocess)
    return "mode: shell needs policy.profile subprocess";
  if (job.shell && !job.argv.empty()) return "argv: not beside a command of the shell";
  constexpr size_t kMostCommand = size_t{128} << 10;  // execve(2)
  if (job.shell && (job.source.size() >= kMostCommand || job.source.find('\0') != job.source.npos))
    return "source: a command of the shell has no NUL, and less than 128 KiB";
  if (!job.tests.empty()) return "tests: not in a step of a session";
  if (job.determinism_runs > 1) return "determinism.runs: a step of a session is run once";
  if (job.fixed.on) return "determinism.mode: fixed mode is not for steps of sessions";
  return nullptr;
}

std::string place_of(const std::string& field, const std::string& path) {
  return field + "[\"" + printable(path) + "\"]";
}

std::string objection_to_files_of_tests(const Job& job) {
  const Paths paths = job.tests.empty() ? Paths() : paths_of(job.files);
  for (size_t i = 0; i < job.tests.size(); ++i) {
    if (const InputFile* file = misplaced(paths, job.tests[i].files))
      return place_of("tests[" + std::to_string(i) + "].files", file->path) +
             ": one of the job's files is its folder, or lies in it";
  }
  return "";
}

std::string objection_to_job(const Given& given, Job& job) {
  if (given.inputs && given.calls) return "calls: not together with inputs";
  if (const char* wrong = objection_to_step(job)) return wrong;
  const bool calls_what_is_there = job.is_step() && job.mode == shim::Mode::kCall;
  if (job.source.empty() && !given.source && !calls_what_is_there) return "source: required";
  if (const char* wrong = objection_to_tests(job)) return wrong;
  if (!job.fixed.on && !given.of_fixed_mode.empty())
    return std::string(given.of_fixed_mode) + ": only in fixed mode (\"mode\": \"fixed\")";
  if (!job.fixed.on) job.fixed = {};  // from the defaults, for the other jobs
  if (!job.tests.empty() && (given.inputs || given.calls))
    return "tests: not together with inputs or calls";
  if (job.mode == shim::Mode::kCall) {
    if (job.func.empty()) return "func: required in call mode";
    if (job.calls.empty() && job.tests.empty())
      return "inputs: required in call mode (inputs or calls)";
    return "";
  }
  if (given.func) return "func: only in call mode (\"mode\": \"call\")";
  if (given.inputs) return "inputs: only in call mode (\"mode\": \"call\")";
  if (given.calls) return "calls: only in call mode (\"mode\": \"call\")";
  job.func.clear();  // from the defaults, for the other jobs
  job.calls.clear();
  return "";
}

}  // namespace runtime
