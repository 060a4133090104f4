#include "runtime/builds/compilation.h"

#include <algorithm>
#include <utility>

#include "images/sha256.h"
#include "runtime/builds/source_rules.h"

namespace runtime {

namespace {

std::string first_line_with(const std::string& text, std::string_view word) {
  const size_t at = text.find(word);
  const size_t hit = at == text.npos ? 0 : at;
  const size_t newline = text.rfind('\n', hit);
  const size_t begin = newline == text.npos || at == text.npos ? 0 : newline + 1;
  return text.substr(begin, std::min<size_t>(text.find('\n', hit) - begin, 300));
}

// A program of elf(5), little-endian: an object file (-c) has its head, too, but no kernel runs it.
bool is_elf_program(std::string_view content) {
  constexpr size_t kTypeAt = 16;
  constexpr char kExecutable = 2, kPositionIndependent = 3;
  if (!content.starts_with("\x7F"
                           "ELF") ||
      content.size() <= kTypeAt)
    return false;
  return content[kTypeAt] == kExecutable || content[kTypeAt] == kPositionIndependent;
}

// Is what will be executed something that a kernel executes (execve(2))? A Go library compiles to
// an archive, and its compiler calls that well.
bool has_program(const RuntimeSpec& runtime, const OutputFiles& made) {
  const std::string program = runtime.program();
  if (program.empty()) return true;
  const auto file =
      std::find_if(made.files.begin(), made.files.end(),
                   [&program](const InputFile& each) { return each.path == program; });
  if (file == made.files.end()) return false;
  return is_elf_program(file->content) || file->content.starts_with("#!");
}

}  // namespace

std::unique_ptr<Job> build_job(const RuntimeSpec& runtime, const Job& job) {
  auto build = std::make_unique<Job>();
  build->id = job.id;
  build->tenant = job.tenant;
  build->template_name = job.template_name;
  build->files = job.files;
  build->source_name = names_of_source(runtime, job).file;
  build->files.push_back({build->source_name, job.source, false});
  build->source_names = job.source_names;
  build->sources = job.sources;
  build->compiler_flags = job.compiler_flags;
  build->outputs = runtime.artefacts;
  build->limits = runtime.compile_limits;
  build->limits.outputs = runtime.compile_limits.disk;
  build->policy.profile = sandbox::Profile::kBuild;
  build->policy.require = job.policy.require;
  return build;
}

size_t bytes_of_sources(const Job& job) {
  size_t bytes = job.source.size();
  for (const InputFile& file : job.files) bytes += file.content.size();
  return bytes;
}

std::string key_of_build(const RuntimeSpec& runtime, const std::string& identity, const Job& job) {
  std::string text = runtime.digest + identity + images::sha256_of(job.source);
  for (const InputFile& file : job.files) {
    text += images::sha256_of(file.path) + images::sha256_of(file.content) +
            (file.executable ? 'x' : '-') + (file.link ? "l" : "");
  }
  for (const std::string& path : job.sources) text += 's' + images::sha256_of(path);
  for (const std::string& flag : job.compiler_flags) text += 'f' + images::sha256_of(flag);
  for (const std::string& name : job.source_names) text += images::sha256_of(name);
  if (!job.source_name.empty()) text += "n" + images::sha256_of(job.source_name);
  return images::sha256_of(text);
}

bool has_made_program(const RuntimeSpec& runtime, const JobResult& build) {
  const bool made = build.exit && !build.exit->signalled && build.exit->code == 0 &&
                    (build.verdict.ok() || build.verdict.outcome == Outcome::kUnsafeCode);
  return made && !build.files.files.empty() && build.files.refused.empty() &&
         has_program(runtime, build.files);
}

JobResult compilation_error(const RuntimeSpec& runtime, JobResult build) {
  const Verdict& how = build.verdict;
  build.err.bytes = build.out.bytes + build.err.bytes;  // some compilers complain on stdout
  build.err.total += build.out.total;
  build.out = {};
  Detail detail = {{"compiler", runtime.compile.front()}};
  if (how.outcome == Outcome::kNonZeroExit || how.outcome == Outcome::kOk) {
    detail.emplace_back("message", how.ok() && !build.files.files.empty()
                                       ? "the source has no program: " + runtime.program() +
                                             ", which its compiler made, cannot be executed"
                                       : first_line_with(build.err.bytes, "error"));
  } else {
    detail.emplace_back("ended_as", how.label());
    for (const auto& entry : how.detail) detail.push_back(entry);
  }
  build.verdict = {Outcome::kCompilationError, "", By::kProgram, std::move(detail)};
  build.files = {};
  build.exit.reset();
  return build;
}

}  // namespace runtime
