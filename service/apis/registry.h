#pragma once
// The APIs of others that the service can speak: a line for each.

#include <memory>
#include <span>
#include <string_view>

#include "service/apis/api.h"
#include "service/apis/go_judge/api.h"
#include "service/apis/judge0/options.h"
#include "service/apis/piston/piston.h"

namespace service {

// The operator's options of single APIs.
struct ApiOptions {
  piston::Options piston;
  GoJudgeApi::Options go_judge;
  judge0::Options judge0;
};

struct KnownApi {
  std::string_view name;  // "piston": `zygo serve --api`, metrics and records call it so
  std::unique_ptr<Api> (*make)(const ApiContext& context, const ApiOptions& options);
  // Its programs find their working directory at this path, too; empty: they need none.
  std::string_view scratch_name = {};
  // Its routes come before those of the others, in whichever order they are named: they are for
  // some requests only (Route::is_for), and the others are for any.
  bool comes_first = false;
};

std::span<const KnownApi> known_apis();
// Null: there is none of that name.
const KnownApi* known_api(std::string_view name);

}  // namespace service
