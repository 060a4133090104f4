#include "runtime/builds/runtime_spec.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/builds/java_source.h"

namespace runtime {

namespace {
constexpr std::string_view kMemoryWord = "{memory_mb}", kFileWord = "{file}",
                           kClassWord = "{class}";
constexpr std::string_view kSources = "{sources}", kSourcesBeside = "{sources_beside}",
                           kFlags = "{flags}";

// Package managers write down here what is installed: dpkg, rpm, apk, pacman.
constexpr const char* kPackageLists[] = {"/var/lib/dpkg/status", "/var/lib/rpm/rpmdb.sqlite",
                                         "/usr/lib/sysimage/rpm/rpmdb.sqlite",
                                         "/lib/apk/db/installed", "/var/lib/pacman/local"};

// A header lies beside the sources that include it.
bool is_compiled(const RuntimeSpec& spec, std::string_view path) {
  if (spec.source_extensions.empty()) return true;
  return std::any_of(
      spec.source_extensions.begin(), spec.source_extensions.end(),
      [path](const std::string& extension) { return path.ends_with("." + extension); });
}

// g++ is a link to a link on most hosts, and an upgrade changes what they lead to.
void into_target(const std::string& path, struct stat& info) {
  struct stat target {};
  if (::stat(path.c_str(), &target) == 0) info = target;
}
}  // namespace

bool RuntimeSpec::takes_sources() const {
  return std::any_of(compile.begin(), compile.end(), [](const std::string& word) {
    return word == kSources || word == kSourcesBeside;
  });
}

bool RuntimeSpec::takes_flags() const {
  return std::find(compile.begin(), compile.end(), kFlags) != compile.end();
}

bool RuntimeSpec::goes_by(std::string_view word) const {
  return name == word || std::find(aliases.begin(), aliases.end(), word) != aliases.end();
}

std::optional<std::string> find_program(const std::string& word, const std::string& root,
                                        std::string_view path) {
  auto is_there = [&root](const std::string& candidate) {
    struct stat info {};
    // Below a root of its own a link may lead anywhere; that it exists has to do.
    if (!root.empty()) return ::lstat((root + candidate).c_str(), &info) == 0;
    return ::access(candidate.c_str(), X_OK) == 0 && ::stat(candidate.c_str(), &info) == 0 &&
           S_ISREG(info.st_mode);
  };
  if (word.empty()) return std::nullopt;
  if (word.front() == '/') return is_there(word) ? std::optional(word) : std::nullopt;
  while (!path.empty()) {
    const size_t colon = std::min(path.find(':'), path.size());
    std::string candidate = std::string(path.substr(0, colon)) + "/" + word;
    if (is_there(candidate)) return candidate;
    path.remove_prefix(std::min(colon + 1, path.size()));
  }
  return std::nullopt;
}

Toolchain find_toolchain(const RuntimeSpec& spec, const std::string& root, std::string_view path) {
  Toolchain tools;
  auto find = [&](const std::vector<std::string>& words, std::string& into) {
    auto found = find_program(words.front(), root, path);
    struct stat info {};
    if (!found || ::lstat((root + *found).c_str(), &info) < 0) {
      if (tools.missing.empty()) tools.missing = words.front();
      return;
    }
    into = *found;
    if (root.empty()) into_target(*found, info);
    tools.stamp += fmt::format("{}:{}:{}.{:09};", *found, info.st_size, info.st_mtim.tv_sec,
                               info.st_mtim.tv_nsec);
  };
  if (spec.compiled()) find(spec.compile, tools.compile);
  if (!spec.runs_artefact() && !spec.run.empty()) find(spec.run, tools.run);
  return tools;
}

std::string stamp_of_packages() {
  std::string stamp;
  for (const char* list : kPackageLists) {
    struct stat info {};
    if (::stat(list, &info) < 0) continue;
    // The time of the last change, which nobody can set.
    stamp += fmt::format("{}:{}:{}.{:09};", list, info.st_size, info.st_ctim.tv_sec,
                         info.st_ctim.tv_nsec);
  }
  return stamp;
}

SourceNames names_of_source(const RuntimeSpec& spec, const Job& job) {
  SourceNames names{spec.file, ""};
  if (spec.finds_class) {
    JavaProgram program = java_program_in(job.source);
    names = {std::move(program.file), std::move(program.main_class)};
  }
  if (!job.source_name.empty()) names.file = job.source_name;
  return names;
}

std::vector<std::string> fill_in(const std::vector<std::string>& words, const Limits& limits,
                                 const SourceNames& names) {
  std::vector<std::string> filled = words;
  const std::string megabytes = std::to_string(std::max<uint64_t>(limits.memory.count >> 20, 1));
  for (std::string& word : filled) {
    const size_t at = word.find(kMemoryWord);
    if (at != word.npos) word.replace(at, kMemoryWord.size(), megabytes);
    if (word == kFileWord) word = names.file;
    if (word == kClassWord) word = names.main_class;
  }
  return filled;
}

std::vector<std::string> compile_words(const RuntimeSpec& spec, const Limits& limits,
                                       const std::string& file,
                                       const std::vector<std::string>& sources,
                                       const std::vector<std::string>& flags) {
  std::vector<std::string> words;
  for (std::string& word : fill_in(spec.compile, limits, {file, ""})) {
    if (word == kFlags) {
      words.insert(words.end(), flags.begin(), flags.end());
      continue;
    }
    const bool beside = word == kSourcesBeside;
    if (word != kSources && !beside) {
      words.push_back(std::move(word));
      continue;
    }
    for (const std::string& source : sources) {
      if (!is_compiled(spec, source) || (beside && source.find('/') != source.npos)) continue;
      // Whatever a file is called, it is no option.
      const bool is_odd = source.starts_with('-') || source.starts_with('@');
      words.push_back(is_odd ? "./" + source : source);
    }
  }
  return words;
}

}  // namespace runtime
