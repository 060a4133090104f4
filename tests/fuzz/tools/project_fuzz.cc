// zygo.toml and pyproject.toml: a file that comes along with a folder. The first byte says which.

#include <cctype>

#include "runtime/json/job/job_json.h"
#include "sandbox/sys/result.h"
#include "tests/fuzz/input.h"
#include "tools/cli/project/defaults.h"
#include "tools/cli/project/project.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const auto form = input.flag() ? cli::ProjectForm::kPyproject : cli::ProjectForm::kOwnFile;
  auto read = cli::parse_project(input.rest(), form);
  if (!read) {
    VERIFY(!read.error().text().empty());
    return 0;
  }
  VERIFY(*read || form == cli::ProjectForm::kPyproject);
  if (!*read) return 0;
  cli::Project& project = **read;
  for (const cli::ProjectTemplate& each : project.templates) {
    VERIFY(!each.preload.empty() || !each.setup.empty());
    VERIFY(each.setup.find('\0') == std::string::npos);
  }
  // What was accepted is valid for jobs, too.
  project.file = "zygo.toml";
  const auto defaults = cli::job_defaults(project, "");
  if (project.template_name.empty()) VERIFY(defaults.ok());
  return 0;
}
