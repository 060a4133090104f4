#include "tools/cli/project/project.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "sandbox/sys/file.h"

namespace cli {
namespace {

using sys::Error;
using sys::Result;

constexpr size_t kLargest = size_t{1} << 20;
constexpr const char* kConsent = "--trust-project or ZYGO_TRUST_PROJECT=yes allows it";

Result<void> check_not_others(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) < 0) return Error::from_errno(path);
  if (about.st_uid != ::geteuid() && about.st_uid != 0)
    return Error::because(fmt::format("{}: belongs to uid {}, and its code would run as uid {}",
                                      path, about.st_uid, ::geteuid()));
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Error::because(path + ": others may write to it, and its code would run as you");
  return {};
}

// Code of the project is run as the caller, so nobody else may be able to write or exchange it.
// Returns where it really is.
Result<std::string> check_owner(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) return Error::because(fmt::format("{}: {}", path.string(), error.message()));
  TRY(check_not_others(real));
  TRY(check_not_others(real.parent_path()));
  return real.string();
}

Result<void> admit_code(Project& project, const std::filesystem::path& folder, ProjectTrust trust) {
  if (project.templates.empty()) return {};
  if (!trust.given)
    return Error::because(fmt::format(
        "templates.{}: preload and setup run outside of the sandbox, before programs do; {}, and "
        "--no-project leaves the file aside",
        project.templates.front().name, kConsent));
  static_cast<void>(TRY(check_owner(project.file)));
  for (ProjectTemplate& each : project.templates) {
    if (each.setup.empty()) continue;
    each.setup = TRY(check_owner(folder / each.setup));
  }
  return {};
}

Result<std::optional<Project>> read(const std::filesystem::path& file, ProjectForm form,
                                    ProjectTrust trust) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return std::optional<Project>();
  const auto named = [&file](const Error& why) {
    return Error::because(file.string() + ": " + why.text());
  };
  Result<std::string> text = sys::read_file(file, kLargest);
  // Most pyproject.toml files are no business of ours, whatever is wrong with them.
  const bool may_be_others = form == ProjectForm::kPyproject;
  if (may_be_others && (!text || text->find("zygo") == std::string::npos))
    return std::optional<Project>();
  if (!text) return std::move(text).error();
  Result<std::optional<Project>> project = parse_project(*text, form);
  if (!project) return named(project.error());
  if (!*project) return std::optional<Project>();
  (*project)->file = file;
  if (auto admitted = admit_code(**project, file.parent_path(), trust); !admitted)
    return named(admitted.error());
  return project;
}

}  // namespace

Result<Project> find_project(const std::string& folder, ProjectTrust trust) {
  for (std::filesystem::path at = folder;; at = at.parent_path()) {
    for (const auto& [name, form] : {std::pair("zygo.toml", ProjectForm::kOwnFile),
                                     std::pair("pyproject.toml", ProjectForm::kPyproject)}) {
      std::optional<Project> found = TRY(read(at / name, form, trust));
      if (found) return *std::move(found);
    }
    if (!at.has_relative_path()) return Project();
  }
}

}  // namespace cli
