#include "runtime/json/job/job_check.h"

#include <cmath>
#include <utility>

#include "images/sha256.h"
#include "runtime/json/job/job_fields.h"
#include "runtime/json/job/job_parts.h"
#include "runtime/json/job/job_rules.h"
#include "runtime/json/job/job_tests.h"
#include "runtime/values/value.h"

namespace runtime {

namespace {

constexpr size_t kLongestWord = 64 << 10;  // of arguments and variables
constexpr size_t kLongestText = 4096;      // of what has no rule of its own

std::string in_list(std::string_view path, size_t index) {
  return std::string(path) + '[' + std::to_string(index) + ']';
}

// Looks at one thing after the other; the first objection counts.
class JobCheck {
 public:
  std::string of(const Job& job) && {
    for (const Field& field : job_fields()) look_at(field, job);
    if (!job.source_name.empty()) path("source_name", job.source_name);
    for (const std::string& each : job.source_names) path("source_names", each);
    calls("calls", job.calls);
    words("argv", job.argv);
    environment(job.env);
    files("files", job.files);
    files("run_files", job.run_files);
    paths("sources", job.sources);
    flags("compiler_flags", job.compiler_flags);
    paths("outputs", job.outputs);
    layers(job.policy.require);
    digest("source", job.source_blob);
    tests(job);
    if (job.checker) checker("checker", *job.checker);
    if (job.interactor) checker("interactor", *job.interactor);
    if (job.execution) name("execution", job.execution->directory);
    if (job.mode == shim::Mode::kCall && job.func.empty()) refuse("func", "required in call mode");
    if (job.mode == shim::Mode::kCall && job.calls.empty() && job.tests.empty())
      refuse("inputs", "required in call mode");
    return std::move(objection_);
  }

 private:
  void refuse(std::string_view place, std::string_view why) {
    if (objection_.empty()) objection_ = std::string(place) + ": " + std::string(why);
  }

  // A value that is finer than a field's unit counts as less: no job's limit is too small for us.
  void look_at(const Field& field, const Job& job) {
    if (field.number.get) {
      const int64_t value = field.number.get(job);
      const bool is_choice = field.kind == FieldKind::kChoice;
      const int64_t least = field.path == "determinism.runs" ? 1 : std::min<int64_t>(field.min, 0);
      const int64_t most = is_choice                           ? std::ssize(field.choices) - 1
                           : field.kind == FieldKind::kBoolean ? 1
                                                               : field.max;
      if (value < least || value > most) refuse(field.path, "expected " + range_of(field));
    }
    const bool is_short = field.kind == FieldKind::kText || field.kind == FieldKind::kJson;
    if (!field.text || !is_short) return;
    const std::string& text = job.*field.text;
    if (const std::string wrong = objection_to_length(field, text); !wrong.empty())
      refuse(field.path, wrong);
    // Services name tenants by more than a job may say, and give each job an id; no function is
    // called in script mode.
    const bool may_be_other = field.path == "tenant" || field.path == "id" || text.empty();
    if (field.path != "template" && may_be_other) return;
    if (const std::string wrong = objection_to_text(field, text); !wrong.empty())
      refuse(field.path, wrong);
  }

  void name(const std::string& place, std::string_view text) {
    if (text.size() > kLongestText) refuse(place, "too long");
    if (text.find('\0') != text.npos) refuse(place, kNulInside);
  }
  void word(const std::string& place, std::string_view text) {
    if (text.size() > kLongestWord) refuse(place, "too long");
    if (text.find('\0') != text.npos) refuse(place, kNulInside);
  }
  void words(const std::string& place, const std::vector<std::string>& all) {
    for (size_t i = 0; i < all.size(); ++i) word(in_list(place, i), all[i]);
  }
  void flags(const std::string& place, const std::vector<std::string>& all) {
    if (all.size() > kMaxCompilerFlags) refuse(place, "too many flags");
    words(place, all);
  }
  void environment(const std::vector<std::pair<std::string, std::string>>& all) {
    for (const auto& [variable, value] : all) {
      if (!is_name_of_variable(variable)) refuse("env", "not a name of a variable");
      word("env", value);
    }
  }
  void path(const std::string& place, std::string_view text) {
    if (const char* wrong = objection_to_file(text)) refuse(place, wrong);
  }
  void paths(const std::string& place, const std::vector<std::string>& all) {
    for (size_t i = 0; i < all.size(); ++i) path(in_list(place, i), all[i]);
  }
  void digest(const std::string& place, const std::string& text) {
    if (!text.empty() && !images::is_sha256(text)) refuse(place, "no digest");
  }
  void files(const std::string& place, const std::vector<InputFile>& all) {
    for (const InputFile& file : all) {
      std::string_view text = file.path;
      if (text.ends_with('/')) text.remove_suffix(1);  // a directory
      path(place, text);
      digest(place, file.blob);
      if (file.link) name(place, file.content);
    }
    if (const auto misfit = misfit_among(all)) refuse(place_of(place, misfit->path), misfit->why);
  }
  void layers(const std::vector<std::string>& all) {
    for (const std::string& each : all) {
      if (!sandbox::level_named(each) && !sandbox::layer_named(each))
        refuse("policy.require", "unknown level or layer");
    }
  }
  void calls(const std::string& place, const std::string& value) {
    if (!value.empty() && !check(value)) refuse(place, "no list of calls");
  }

  void tests(const Job& job) {
    if (job.tests.size() > kMaxTests) refuse("tests", "too many tests");
    for (size_t i = 0; i < job.tests.size(); ++i) {
      const TestCase& test = job.tests[i];
      const std::string place = in_list("tests", i);
      words(place + ".argv", test.argv);
      words(place + ".checker_argv", test.checker_argv);
      calls(place + ".args", test.calls);
      files(place + ".files", test.files);
      files(place + ".judge_files", test.judge_files);
      for (const double each :
           {test.tolerance, test.rules.absolute.value_or(0), test.rules.relative.value_or(0)}) {
        if (!std::isfinite(each) || each < 0) refuse(place, "no tolerance");
      }
    }
    if (const char* wrong = runtime::objection_to_tests(job)) refuse("job", wrong);
    if (const char* wrong = runtime::objection_to_step(job)) refuse("session", wrong);
    if (const std::string wrong = objection_to_files_of_tests(job); !wrong.empty())
      refuse("job", wrong);
  }

  void checker(const std::string& place, const Checker& it) {
    name(place, it.template_name);
    files(place + ".files", it.files);
    paths(place + ".sources", it.sources);
    flags(place + ".compiler_flags", it.compiler_flags);
    words(place + ".argv", it.argv);
    for (const LimitRule& rule : kLimits) {
      const int64_t value = rule.get(it.limits);
      if (value < 0 || value > rule.max)
        refuse(place + '.' + std::string(rule.path), "out of range");
    }
  }

  std::string objection_;
};

}  // namespace

std::string objection_to(const Job& job) { return JobCheck().of(job); }

}  // namespace runtime
