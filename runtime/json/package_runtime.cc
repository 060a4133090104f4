#include "runtime/json/package_runtime.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "images/sha256.h"
#include "runtime/json/runtime_json.h"
#include "sandbox/sys/file.h"

namespace runtime {

using nlohmann::json;
using sys::Error;
using sys::Result;

namespace {

constexpr size_t kLargestInfo = 1 << 20;
constexpr size_t kLongestName = 64;
constexpr const char* kInfoFiles[] = {"pkg-info.json", "metadata.json"};
constexpr const char* kBash = "/bin/bash";
// Takes an environment that nobody has cached from the script `environment`, in the folder.
// It is called with the folder as its name, the name of the script and its arguments.
constexpr const char* kWithEnvironment =
    "w=$PWD; cd \"$0\" || exit 127; if [ -f environment ]; then . ./environment; fi; cd \"$w\"; "
    "s=$1; shift; exec /bin/bash \"$0/$s\" \"$@\"";

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '+' || c == '#' || c == '.';
         });
}

// NAME=VALUE, a line each.
std::vector<std::pair<std::string, std::string>> cached_environment(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const size_t equals = line.find('=');
    if (equals != line.npos && equals > 0)
      variables.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    at = end + 1;
  }
  return variables;
}

// Changes when something at the top of the folder does.
std::string stamp_of(const std::string& folder) {
  std::vector<std::string> entries;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    struct stat info {};
    if (::lstat(entry.path().c_str(), &info) < 0) continue;
    entries.push_back(fmt::format("{}:{}:{}.{:09};", entry.path().filename().string(), info.st_size,
                                  info.st_mtim.tv_sec, info.st_mtim.tv_nsec));
  }
  std::sort(entries.begin(), entries.end());
  std::string stamp;
  for (const std::string& entry : entries) stamp += entry;
  return stamp;
}

std::vector<std::string> words_of(const std::string& folder, const char* script, bool cached) {
  if (cached) return {kBash, folder + "/" + script};
  return {kBash, "-c", kWithEnvironment, folder, script};
}

Result<RuntimeSpec> language_of(const json& object, const std::string& release,
                                const RuntimeSpec& package) {
  RuntimeSpec spec = package;
  spec.language = text_of(object, "language");
  if (!is_name(spec.language))
    return Error::because(package.folder + ": language: expected a name");
  spec.name = spec.language + "-" + release;
  spec.title = fmt::format("{} {} (package)", spec.language, release);
  spec.aliases = {spec.language};
  const auto aliases = object.find("aliases");
  if (aliases != object.end() && aliases->is_array()) {
    for (const json& alias : *aliases) {
      if (alias.is_string() && is_name(alias.get_ref<const std::string&>()))
        spec.aliases.push_back(alias);
    }
  }
  spec.env.emplace_back("PISTON_LANGUAGE", spec.language);
  return spec;
}

std::string info_file_of(const std::string& folder) {
  for (const char* name : kInfoFiles) {
    if (exists(folder + "/" + name)) return folder + "/" + name;
  }
  return "";
}

Result<void> add_package(const std::string& folder, std::vector<RuntimeSpec>& all) {
  char resolved[PATH_MAX];
  if (!::realpath(folder.c_str(), resolved)) return Error::from_errno("package " + folder);
  const std::string path = resolved;
  if (path == "/tmp" || path.starts_with("/tmp/"))
    return Error::because("package " + path + ": below /tmp, where programs have their scratch");
  const std::string info = TRY(sys::read_file(info_file_of(path), kLargestInfo));
  for (RuntimeSpec& spec : TRY(parse_package(info, path))) all.push_back(std::move(spec));
  return {};
}

std::vector<std::string> folders_in(const std::string& directory) {
  std::vector<std::string> folders;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(directory, problem)) {
    if (entry.is_directory(problem)) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

Result<std::vector<RuntimeSpec>> parse_package(const std::string& info, const std::string& folder) {
  const json object = json::parse(info, nullptr, false);
  if (!object.is_object()) return Error::because(folder + ": its description is no JSON object");
  RuntimeSpec package;
  package.folder = folder;
  package.release = text_of(object, "version");
  if (!is_name(package.release)) return Error::because(folder + ": version: expected a version");
  if (!exists(folder + "/run")) return Error::because(folder + ": there is no script \"run\"");
  package.file = "file0.code";
  package.profile = sandbox::Profile::kSubprocess;
  package.digest = images::sha256_of(info + stamp_of(folder));
  const bool cached = exists(folder + "/.env");
  if (cached) package.env = cached_environment(TRY(sys::read_file(folder + "/.env", kLargestInfo)));
  package.run = words_of(folder, "run", cached);
  if (exists(folder + "/compile")) {
    package.compile = words_of(folder, "compile", cached);
    package.artefacts = {"**"};
    package.compile_limits = usual_compile_limits();
  }
  std::vector<RuntimeSpec> specs;
  const auto provides = object.find("provides");
  if (provides == object.end() || !provides->is_array()) {
    specs.push_back(TRY(language_of(object, package.release, package)));
    return specs;
  }
  for (const json& language : *provides)
    specs.push_back(TRY(language_of(language, package.release, package)));
  return specs;
}

Result<std::vector<RuntimeSpec>> load_packages(const std::string& directory) {
  std::vector<RuntimeSpec> specs;
  if (!info_file_of(directory).empty()) {
    TRY(add_package(directory, specs));
    return specs;
  }
  for (const std::string& language : folders_in(directory)) {
    for (const std::string& version : folders_in(language)) {
      if (!info_file_of(version).empty()) TRY(add_package(version, specs));
    }
  }
  if (specs.empty()) return Error::because(directory + ": there is no package here");
  return specs;
}

}  // namespace runtime
