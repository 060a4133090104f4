#include "service/foreign/apis.h"

namespace service {

std::optional<Api> api_named(std::string_view name) {
  if (name == "sandbox-fusion") return Api::kSandboxFusion;
  if (name == "piston") return Api::kPiston;
  if (name == "dify") return Api::kDify;
  return std::nullopt;
}

std::string python_template(const runtime::JobDefaults& defaults) {
  const std::string& usual = defaults.job.template_name;
  return usual.starts_with("python") ? usual : "python";
}

}  // namespace service
