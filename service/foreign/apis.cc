#include "service/foreign/apis.h"

namespace service {

std::optional<Api> api_named(std::string_view name) {
  if (name == "sandbox-fusion") return Api::kSandboxFusion;
  if (name == "piston") return Api::kPiston;
  if (name == "dify") return Api::kDify;
  return std::nullopt;
}

}  // namespace service
