#pragma once
// Routes: what may be asked for, as data. The service answers by this table, and the OpenAPI
// document is made of it. Pure.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "service/admission/tokens.h"
#include "service/apis/apis.h"
#include "service/http/request.h"

namespace service {

enum class Endpoint : uint8_t {
  kPostJob,
  kGetJob,
  kDeleteJob,
  kPostBatch,
  kGetBatch,
  kDeleteBatch,
  kAttach,
  kRuntimes,
  kTemplates,
  kInfo,
  kPutBlob,
  kGetBlob,
  kHeadBlob,
  kHealth,
  kReady,
  kMetrics,
  kStats,
  kSelfcheck,
  kOpenApi,
  kRunCode,
  kRunCodePing,
  kRunJupyter,
  kSubmitCompletion,
  kPistonRuntimes,
  kPistonExecute,
  kPistonConnect,
  kPistonPackages,
  kPistonAddPackage,
  kPistonRemovePackage,
  kDifyRun,
  kDifyDependencies,
  kDifyHealth,
  kGoJudgeRun,
  kGoJudgeSocket,
  kGoJudgeStream,
  kGoJudgeListFiles,
  kGoJudgeAddFile,
  kGoJudgeGetFile,
  kGoJudgeRemoveFile,
  kGoJudgeVersion,
  kGoJudgeConfig,
};

struct Parameter {
  std::string_view name, in, meaning;  // in: "query" or "header"
};

struct Route {
  Endpoint endpoint;
  Method method;
  std::string_view pattern;  // "/v1/jobs/{id}": one parameter at most, and it ends the pattern
  Scope scope;
  std::string_view summary;
  std::string_view takes, gives;  // media types; takes: empty when there is no body
  std::vector<int> statuses;      // besides those that any request may get
  std::vector<Parameter> parameters = {};
  Api api = Api::kNative;
};

std::span<const Route> routes();  // of all APIs

struct Match {
  const Route* route = nullptr;
  std::string parameter;
  std::string allow;  // no route: the methods that this path has; empty: there is no such path
};
Match match(Method method, std::string_view path, const Apis& apis = {});

// OpenAPI 3.1, of the native API.
std::string openapi_json(std::string_view version);

}  // namespace service
