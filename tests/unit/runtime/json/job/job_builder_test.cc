#include "runtime/json/job/job_builder.h"

#include <catch2/catch.hpp>
#include <functional>

namespace runtime {
namespace {

struct Case {
  std::function<void(JobBuilder&)> build;
  std::string json;  // the same job
};

JobDefaults defaults_of(const char* json) { return parse_defaults(json).value(); }

// The job as one way reads it, in text, so far as a builder can say it at all.
std::string told(const sys::Result<Job>& read) {
  if (!read) return read.error().text();
  const Job& job = *read;
  std::string all =
      job.template_name + '|' + job.source + '|' + job.stdin_bytes + '|' + job.tag + '|' +
      job.func + '|' + job.calls + '|' + std::to_string(job.limits.cpu.count()) + '|' +
      std::to_string(job.limits.memory.count) + '|' + std::to_string(job.stop_at_failure);
  for (const std::string& word : job.argv) all += "|argv " + word;
  for (const std::string& flag : job.compiler_flags) all += "|flag " + flag;
  for (const std::string& glob : job.outputs) all += "|glob " + glob;
  for (const InputFile& file : job.files) all += "|file " + file.path + '=' + file.content;
  for (const TestCase& test : job.tests)
    all += "|test " + test.name + ' ' + test.stdin_bytes + '=' + *test.expect;
  return all;
}

}  // namespace

TEST_CASE("a job that is built is the job that is read, and is refused in the same words",
          "[json][job]") {
  const std::string nul("a\0b", 3), long_text(5000, 'x');
  std::string many = "\"a\"";
  for (int i = 1; i < 65; ++i) many += ", \"a\"";
  const Case cases[] = {
      {[](JobBuilder& job) { job.source("1"); }, R"({"source": "1"})"},
      {[](JobBuilder& job) { job.stdin_bytes("1"); }, R"({"stdin": "1"})"},
      {[](JobBuilder& job) {
         job.source("1");
         job.argv({"a", "b"});
         job.stdin_bytes("in");
         job.tag("[1]");
         job.limit("cpu_ms", 7);
         job.limit("memory_mb", 3);
         job.stop_at_failure(true);
         job.test("x", "y");
         job.test("z", "");
       },
       R"({"source": "1", "argv": ["a", "b"], "stdin": "in", "tag": [1], "stop": "first_fail",
           "limits": {"cpu_ms": 7, "memory_mb": 3},
           "tests": [{"stdin": "x", "expect": "y"}, {"stdin": "z", "expect": ""}]})"},
      {[](JobBuilder& job) {
         job.source("1");
         job.calls("f", {"a", "b"});
       },
       R"({"source": "1", "mode": "call", "func": "f",
           "calls": [{"args": ["a"]}, {"args": ["b"]}]})"},
      {[](JobBuilder& job) {
         job.source("1");
         job.calls("no name", {});
       },
       R"({"source": "1", "mode": "call", "func": "no name", "calls": []})"},
      {[](JobBuilder& job) {
         job.source("1");
         job.file("a/b", "text");
         job.encoded_file("usual", "aGk=");
         job.outputs({"*.txt"});
       },
       R"({"source": "1", "files": {"a/b": {"text": "text"}, "usual": {"b64": "aGk="}},
           "outputs": ["*.txt"]})"},
      {[](JobBuilder& job) {
         job.source("1");
         job.file("a", "");
         job.file("a/b", "");
       },
       R"({"source": "1", "files": {"a": {"text": ""}, "a/b": {"text": ""}}})"},
      {[](JobBuilder& job) {
         job.source("1");
         job.encoded_file("a", "!");
       },
       R"({"source": "1", "files": {"a": {"b64": "!"}}})"},
      {[](JobBuilder& job) {
         job.source("1");
         job.file("../a", "");
       },
       R"({"source": "1", "files": {"../a": {"text": ""}}})"},
      {[](JobBuilder& job) { job.limit("cpu_ms", 0); }, R"({"limits": {"cpu_ms": 0}})"},
      {[](JobBuilder& job) { job.limit("wall_ms", 86'400'001); },
       R"({"limits": {"wall_ms": 86400001}})"},
      {[](JobBuilder& job) { job.template_name("a b"); }, R"({"template": "a b"})"},
      {[](JobBuilder& job) {
         job.outputs({"ok", "/etc"});
       },
       R"({"outputs": ["ok", "/etc"]})"},
      {[&](JobBuilder& job) { job.outputs({long_text}); },
       R"({"outputs": [")" + long_text + "\"]}"},
      {[&](JobBuilder& job) {
         job.argv({"a", nul});
       },
       R"({"argv": ["a", "a\u0000b"]})"},
      {[](JobBuilder& job) {
         job.source("1");
         job.compiler_flags({"-O3", "-g"});
       },
       R"({"source": "1", "compiler_flags": ["-O3", "-g"]})"},
      {[](JobBuilder& job) {
         job.compiler_flags({"a", ""});
       },
       R"({"compiler_flags": ["a", ""]})"},
      {[&](JobBuilder& job) { job.compiler_flags({nul}); }, R"({"compiler_flags": ["a\u0000b"]})"},
      {[&](JobBuilder& job) {
         job.compiler_flags({"a", long_text});
       },
       R"({"compiler_flags": ["a", ")" + long_text + R"("]})"},
      {[&](JobBuilder& job) { job.compiler_flags(std::vector<std::string>(65, "a")); },
       R"({"compiler_flags": [)" + many + "]}"},
  };
  for (const char* under : {R"({})", R"({"files": {"usual": {"text": "1"}}, "argv": ["x"]})"}) {
    const JobDefaults defaults = defaults_of(under);
    for (const Case& each : cases) {
      INFO(each.json);
      JobBuilder builder(defaults);
      each.build(builder);
      CHECK(told(std::move(builder).finish()) == told(parse_job(each.json, defaults)));
    }
  }
}

}  // namespace runtime
