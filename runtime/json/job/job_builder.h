#pragma once
// JobBuilder: a job from fields that somebody else has read, as the APIs of others do. The schema's
// rules hold as for a job in JSON, and objections are told in the same words; the first one counts.
// Pure; texts are UTF-8 and come from callers we do not know.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/json/job/job_json.h"

namespace runtime {

class JobBuilder {
 public:
  explicit JobBuilder(const JobDefaults& defaults) : job_(defaults.job) {}

  void template_name(std::string name);
  void source(std::string text);
  void stdin_bytes(std::string bytes);
  void argv(std::vector<std::string> words);
  void compiler_flags(std::vector<std::string> flags);
  // `field`: "cpu_ms", as in docs/jobs.md.
  void limit(std::string_view field, int64_t value);
  void file(std::string path, std::string content, bool executable = false);
  // The content is base64.
  void encoded_file(std::string path, std::string_view base64);
  // Globs of files that come back.
  void outputs(std::vector<std::string> globs);
  void tag(std::string json);
  // Calls of a function of the source, in place of a run of it; each has one text for argument.
  void calls(std::string function, const std::vector<std::string>& arguments);
  // A run of the program with this input and the output that it should have.
  void test(std::string stdin_bytes, std::string expect);
  void stop_at_failure(bool stop) { job_.stop_at_failure = stop; }

  // The job, or the first objection, which begins with the field's path.
  sys::Result<Job> finish() &&;

 private:
  void refuse(std::string_view path, const std::string& why);
  void text(std::string_view path, std::string value, std::string Job::*into);
  bool fits(std::string_view path, std::string_view place, std::string_view text);

  Job job_;
  std::vector<InputFile> files_;
  std::vector<TestCase> tests_;
  bool has_source_ = false, has_calls_ = false;
  std::string objection_;
};

}  // namespace runtime
