#pragma once
// The APIs of others that the service speaks, each only if its operator says so.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/json/job_json.h"

namespace service {

enum class Api : uint8_t { kNative, kSandboxFusion, kPiston, kDify, kGoJudge };

class Apis {
 public:
  void add(Api api) { bits_ |= bit(api); }
  bool has(Api api) const { return api == Api::kNative || (bits_ & bit(api)) != 0; }

 private:
  static unsigned bit(Api api) { return 1u << static_cast<unsigned>(api); }
  unsigned bits_ = 0;
};

// "zygo" for the native one.
std::string_view name_of(Api api);
// "sandbox-fusion", "piston", "dify", "go-judge".
std::optional<Api> api_named(std::string_view name);

// What "python" means to all of them: the service's default template, if that is one of Python's,
// because which modules are warm is the operator's choice.
std::string python_template(const runtime::JobDefaults& defaults);

}  // namespace service
