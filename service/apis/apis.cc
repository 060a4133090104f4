#include "service/apis/apis.h"

namespace service {

std::string_view name_of(Api api) {
  switch (api) {
    case Api::kNative:
      return "zygo";
    case Api::kSandboxFusion:
      return "sandbox-fusion";
    case Api::kPiston:
      return "piston";
    case Api::kDify:
      return "dify";
    case Api::kGoJudge:
      break;
  }
  return "go-judge";
}

std::optional<Api> api_named(std::string_view name) {
  if (name == "sandbox-fusion") return Api::kSandboxFusion;
  if (name == "piston") return Api::kPiston;
  if (name == "dify") return Api::kDify;
  if (name == "go-judge") return Api::kGoJudge;
  return std::nullopt;
}

std::string python_template(const runtime::JobDefaults& defaults) {
  const std::string& usual = defaults.job.template_name;
  return usual.starts_with("python") ? usual : "python";
}

}  // namespace service
