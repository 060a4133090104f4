#include "tools/cli/project/defaults.h"

#include <nlohmann/json.hpp>

namespace cli {

using nlohmann::json;

sys::Result<runtime::JobDefaults> job_defaults(const Project& project, const std::string& given) {
  if (project.file.empty())
    return given.empty() ? runtime::JobDefaults() : runtime::parse_defaults(given);
  json merged = json::object();
  if (!project.template_name.empty()) merged["template"] = project.template_name;
  if (!project.limits.empty()) merged["limits"] = json::parse(project.limits);
  if (!given.empty()) {
    const json own = json::parse(given, nullptr, false);
    if (!own.is_object()) return runtime::parse_defaults(given);  // which says what is wrong
    merged.merge_patch(own);
  }
  return runtime::parse_defaults(merged.dump(-1, ' ', true, json::error_handler_t::replace));
}

}  // namespace cli
