#include "runtime/builds/source_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace runtime {

namespace {

bool lies_in(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

bool is_source(const Job& job, const std::string& path) {
  return std::find(job.sources.begin(), job.sources.end(), path) != job.sources.end();
}

// A file and the source of the program cannot be the folder of one another.
std::string objection_to_places(const std::vector<InputFile>& files, const std::string& source,
                                const Job& job) {
  for (const InputFile& file : files) {
    if (!lies_in(file.path, source) && !lies_in(source, file.path)) continue;
    const char* field = is_source(job, file.path) ? "sources" : "files";
    if (lies_in(file.path, source))
      return fmt::format("{}[\"{}\"]: its folder has the name of the program's source, {}", field,
                         file.path, source);
    return fmt::format("{}[\"{}\"]: is the folder of the program's source, {}", field, file.path,
                       source);
  }
  return "";
}

bool may_collide(const std::vector<InputFile>& files, const RuntimeSpec& runtime, const Job& job) {
  if (!job.source_name.empty() || runtime.file.find('/') != runtime.file.npos) return true;
  return std::any_of(files.begin(), files.end(),
                     [](const InputFile& file) { return file.path.find('/') != file.path.npos; });
}

}  // namespace

std::string objection_to_sources(const std::string& name, const RuntimeSpec* runtime,
                                 const Job& job) {
  const bool compiled = runtime != nullptr && runtime->compiled();
  if (!job.compiler_flags.empty() && !compiled)
    return "compiler_flags: " + name + " has no compiler";
  if (!job.compiler_flags.empty() && !runtime->takes_flags())
    return "compiler_flags: " + name + " has no {flags} in its compile command";
  if (!job.sources.empty() && !compiled)
    return "sources: " + name + " has no compiler; further files go into files";
  // A command has no source of its own, nor has Python a file of it.
  if (runtime == nullptr || runtime->run.empty()) return "";
  const bool asks = !job.sources.empty() || may_collide(job.files, *runtime, job) ||
                    may_collide(job.run_files, *runtime, job);
  if (!asks) return "";
  const std::string source = names_of_source(*runtime, job).file;
  if (is_source(job, source))
    return fmt::format("sources[\"{}\"]: this is what the program's source itself is called",
                       source);
  std::string wrong = objection_to_places(job.files, source, job);
  return wrong.empty() ? objection_to_places(job.run_files, source, job) : wrong;
}

}  // namespace runtime
