#pragma once
// The project that a command is called in: zygo.toml, or [tool.zygo] of pyproject.toml, in the
// working directory or the nearest folder above it that has one. It holds limits, the template and
// definitions of templates, and nothing else: isolation, the interpreter and images are up to the
// caller. What a template runs outside of the sandbox needs the caller's consent.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"

namespace cli {

struct ProjectTemplate {
  std::string name;
  std::vector<std::string> preload;
  std::string setup;  // a file; empty: none
};

struct Project {
  std::string file;           // empty: there is none
  std::string template_name;  // empty: not said
  std::string limits;         // a JSON object with the names of a job's limits; empty: none
  std::vector<ProjectTemplate> templates;
};

enum class ProjectForm { kOwnFile, kPyproject };

// An error names the line, or the field. Nothing: a pyproject.toml that says nothing of zygo.
sys::Result<std::optional<Project>> parse_project(std::string_view text, ProjectForm form);

struct ProjectTrust {
  bool given = false;  // --trust-project
};

// The project of `folder`, with paths of setup files as seen from anywhere. An error names the
// file.
sys::Result<Project> find_project(const std::string& folder, ProjectTrust trust);

}  // namespace cli
