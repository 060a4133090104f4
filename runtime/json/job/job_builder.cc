#include "runtime/json/job/job_builder.h"

#include <utility>

#include "runtime/job/input_path.h"
#include "runtime/json/job/job_fields.h"
#include "runtime/json/job/job_parts.h"
#include "runtime/json/job/job_rules.h"
#include "runtime/json/job/job_tests.h"
#include "runtime/values/json_text.h"
#include "runtime/values/value.h"

namespace runtime {

namespace {

const Field& field_of(std::string_view path) {
  const int index = field_index(path);
  VERIFY(index >= 0);
  return job_fields()[static_cast<size_t>(index)];
}

std::string place_in_list(std::string_view path, size_t index) {
  return std::string(path) + '[' + std::to_string(index) + ']';
}

}  // namespace

void JobBuilder::refuse(std::string_view path, const std::string& why) {
  if (objection_.empty()) objection_ = std::string(path) + ": " + why;
}

bool JobBuilder::fits(std::string_view path, std::string_view place, std::string_view text) {
  const std::string wrong = objection_to_length(field_of(path), text);
  if (!wrong.empty()) refuse(place, wrong);
  return wrong.empty();
}

void JobBuilder::text(std::string_view path, std::string value, std::string Job::*into) {
  if (!fits(path, path, value)) return;
  const std::string wrong = objection_to_text(field_of(path), value);
  if (!wrong.empty()) return refuse(path, wrong);
  job_.*into = std::move(value);
}

void JobBuilder::template_name(std::string name) {
  text("template", std::move(name), &Job::template_name);
}

void JobBuilder::source(std::string source) {
  has_source_ = true;
  job_.source_blob.clear();
  text("source", std::move(source), &Job::source);
}

void JobBuilder::stdin_bytes(std::string bytes) {
  text("stdin", std::move(bytes), &Job::stdin_bytes);
}

void JobBuilder::tag(std::string json) { text("tag", std::move(json), &Job::tag); }

void JobBuilder::argv(std::vector<std::string> words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string place = place_in_list("argv", i);
    if (fits("argv", place, words[i]) && words[i].find('\0') != std::string::npos)
      refuse(place, kNulInside);
  }
  job_.argv = std::move(words);
}

void JobBuilder::compiler_flags(std::vector<std::string> flags) {
  if (flags.size() > kMaxCompilerFlags)
    refuse("compiler_flags", "more than " + std::to_string(kMaxCompilerFlags) + " flags");
  for (size_t i = 0; i < flags.size(); ++i) {
    const std::string place = place_in_list("compiler_flags", i);
    if (flags[i].empty()) refuse(place, "a flag is not empty");
    if (fits("compiler_flags", place, flags[i]) && flags[i].find('\0') != std::string::npos)
      refuse(place, kNulInside);
  }
  job_.compiler_flags = std::move(flags);
}

void JobBuilder::limit(std::string_view field, int64_t value) {
  const std::string path = "limits." + std::string(field);
  const Field& rule = field_of(path);
  if (value < rule.min || value > rule.max)
    return refuse(path, "expected " + range_of(rule) + ", got " + std::to_string(value));
  rule.number.set(job_, value);
}

void JobBuilder::file(std::string path, std::string content, bool executable) {
  if (const char* wrong = objection_to_file(path)) refuse(place_of("files", path), wrong);
  files_.push_back({std::move(path), std::move(content), executable});
}

void JobBuilder::encoded_file(std::string path, std::string_view base64) {
  std::string content;
  const bool is_base64 = append_from_base64(base64, content);
  const std::string place = place_of("files", path);
  file(std::move(path), std::move(content));
  if (!is_base64) refuse(place, "not base64");
}

void JobBuilder::outputs(std::vector<std::string> globs) {
  for (size_t i = 0; i < globs.size(); ++i) {
    const std::string place = place_in_list("outputs", i);
    if (!fits("outputs", place, globs[i])) continue;
    if (const char* wrong = objection_to_path(globs[i])) refuse(place, wrong);
  }
  job_.outputs = std::move(globs);
}

void JobBuilder::calls(std::string function, const std::vector<std::string>& arguments) {
  has_calls_ = true;
  job_.mode = shim::Mode::kCall;
  text("func", std::move(function), &Job::func);
  Writer calls;
  calls.container(shim::Tag::kList, static_cast<uint32_t>(arguments.size()));
  for (const std::string& argument : arguments) {
    calls.container(shim::Tag::kList, 2);
    calls.container(shim::Tag::kList, 1);
    calls.text(argument);
    calls.container(shim::Tag::kDict, 0);
  }
  job_.calls = calls.take();
}

void JobBuilder::test(std::string stdin_bytes, std::string expect) {
  const std::string place = place_in_list("tests", tests_.size());
  if (tests_.size() == kMaxTests)
    refuse(place, "more than " + std::to_string(kMaxTests) + " tests");
  fits("tests", place + ".stdin", stdin_bytes);
  fits("tests", place + ".expect", expect);
  TestCase& test = tests_.emplace_back();
  test.name = "test-" + std::to_string(tests_.size());
  test.stdin_bytes = std::move(stdin_bytes);
  test.expect = std::move(expect);
}

sys::Result<Job> JobBuilder::finish() && {
  merge_files(job_.files, files_);
  if (const std::optional<Misfit> misfit = misfit_among(job_.files))
    refuse(place_of("files", misfit->path), misfit->why);
  if (!tests_.empty()) job_.tests = std::move(tests_);
  if (!objection_.empty()) return sys::Error::because(objection_);
  if (const std::string objection =
          objection_to_job({.source = has_source_, .calls = has_calls_}, job_);
      !objection.empty())
    return sys::Error::because(objection);
  const std::string wrong = objection_to_files_of_tests(job_);
  if (!wrong.empty()) return sys::Error::because(wrong);
  return std::move(job_);
}

}  // namespace runtime
