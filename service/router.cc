#include "service/router.h"

#include <optional>

namespace service {

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kLines = "application/x-ndjson";
constexpr std::string_view kBytes = "application/octet-stream";
constexpr Parameter kPatience{"X-Zygo-Patience", "header",
                              "Seconds within which a job must have started; else 429."};
constexpr Parameter kDurable{"durable", "query",
                             "1, with async=1: on the disk before it is acknowledged."};
constexpr Parameter kKey{"Idempotency-Key", "header",
                         "Of a durable request: when it is sent again, it gets the same id."};
constexpr Parameter kTenant{"tenant", "query",
                            "The tenant, from a client that may name one (--tenant-by field)."};
constexpr Parameter kWait{"wait", "query", "Seconds, up to 300, to wait for the result."};

std::vector<Route> make_routes() {
  return {
      {Endpoint::kPostJob,
       Method::kPost,
       "/v1/jobs",
       Scope::kJobs,
       "Run one job. Answers with its result, or at once with an id.",
       kJson,
       kJson,
       {200, 202, 400, 422, 429, 507},
       {{"async", "query", "1: answer 202 with an id at once."}, kDurable, kKey, kPatience}},
      {Endpoint::kGetJob,
       Method::kGet,
       "/v1/jobs/{id}",
       Scope::kJobs,
       "The result of a job that was sent with async=1, or its state while there is none.",
       "",
       kJson,
       {200, 202, 400, 404, 429},
       {kWait}},
      {Endpoint::kDeleteJob,
       Method::kDelete,
       "/v1/jobs/{id}",
       Scope::kJobs,
       "Cancel a job. Answers with its result: Cancelled, unless it had ended before.",
       "",
       kJson,
       {200, 202, 404, 429}},
      {Endpoint::kPostBatch,
       Method::kPost,
       "/v1/batches",
       Scope::kJobs,
       "Run many jobs: a line each, or {\"defaults\", \"jobs\"}. Results in order of "
       "completion.",
       kLines,
       kLines,
       {200, 202, 400, 422, 429, 507},
       {{"async", "query", "1, with durable=1: answer 202 with an id at once."},
        kDurable,
        kKey,
        kPatience}},
      {Endpoint::kGetBatch,
       Method::kGet,
       "/v1/batches/{id}",
       Scope::kJobs,
       "Results of a durable batch in order of completion, X-Zygo-Jobs when all are there.",
       "",
       kLines,
       {200, 400, 404},
       {{"after", "query", "Number of results to skip: those that the client has."}, kWait}},
      {Endpoint::kDeleteBatch,
       Method::kDelete,
       "/v1/batches/{id}",
       Scope::kJobs,
       "Cancel the jobs of a durable batch that have not ended. Each still gets its result.",
       "",
       kJson,
       {202, 404}},
      {Endpoint::kAttach,
       Method::kGet,
       "/v1/attach",
       Scope::kJobs,
       "A WebSocket: run one job, with its input and output live (docs/http.md).",
       "",
       kJson,
       {101, 400, 426, 503},
       {kPatience}},
      {Endpoint::kRuntimes,
       Method::kGet,
       "/v1/runtimes",
       Scope::kInfo,
       "The languages.",
       "",
       kJson,
       {200}},
      {Endpoint::kTemplates,
       Method::kGet,
       "/v1/templates",
       Scope::kInfo,
       "The warm interpreters and what they preload.",
       "",
       kJson,
       {200}},
      {Endpoint::kInfo,
       Method::kGet,
       "/v1/info",
       Scope::kInfo,
       "Version, level, the layers in force, limits.",
       "",
       kJson,
       {200}},
      {Endpoint::kPutBlob,
       Method::kPut,
       "/v1/blobs/{digest}",
       Scope::kBlobs,
       "Keep contents that jobs may name.",
       kBytes,
       kJson,
       {201, 400},
       {kTenant}},
      {Endpoint::kGetBlob,
       Method::kGet,
       "/v1/blobs/{digest}",
       Scope::kBlobs,
       "The contents.",
       "",
       kBytes,
       {200, 400, 404},
       {kTenant}},
      {Endpoint::kHeadBlob,
       Method::kHead,
       "/v1/blobs/{digest}",
       Scope::kBlobs,
       "Is it there?",
       "",
       kBytes,
       {200, 400, 404},
       {kTenant}},
      {Endpoint::kHealth,
       Method::kGet,
       "/healthz",
       Scope::kOpen,
       "The service answers.",
       "",
       kJson,
       {200}},
      {Endpoint::kReady,
       Method::kGet,
       "/readyz",
       Scope::kOpen,
       "The default template is warm, and the service is not ending.",
       "",
       kJson,
       {200}},
      {Endpoint::kMetrics,
       Method::kGet,
       "/metrics",
       Scope::kMetrics,
       "Prometheus text.",
       "",
       "text/plain",
       {200}},
      {Endpoint::kStats,
       Method::kGet,
       "/v1/stats",
       Scope::kMetrics,
       "What the page and zygo top show: counts, the last minutes second by second, the last "
       "failures.",
       "",
       kJson,
       {200}},
      {Endpoint::kSelfcheck,
       Method::kPost,
       "/v1/selfcheck",
       Scope::kAdmin,
       "Try to break out, as zygo selfcheck does, and answer with its report. One at a time.",
       "",
       kJson,
       {200, 409}},
      {Endpoint::kOpenApi,
       Method::kGet,
       "/v1/openapi.json",
       Scope::kInfo,
       "This document.",
       "",
       kJson,
       {200}},
  };
}

Route foreign(Api api, Endpoint endpoint, Method method, std::string_view path, Scope scope) {
  return {endpoint, method, path, scope, "", method == Method::kPost ? kJson : "",
          kJson,    {},     {},   api};
}

std::vector<Route> foreign_routes() {
  using enum Endpoint;
  using enum Api;
  constexpr Method kGet = Method::kGet, kPost = Method::kPost;
  constexpr Scope kJobs = Scope::kJobs, kInfos = Scope::kInfo, kOpen = Scope::kOpen;
  return {
      foreign(kSandboxFusion, kRunCode, kPost, "/run_code", kJobs),
      foreign(kSandboxFusion, kRunCodePing, kGet, "/v1/ping", kOpen),
      foreign(kSandboxFusion, kRunJupyter, kPost, "/run_jupyter", kJobs),
      foreign(kSandboxFusion, kSubmitCompletion, kPost, "/submit", kJobs),
      foreign(kPiston, kPistonRuntimes, kGet, "/api/v2/runtimes", kInfos),
      foreign(kPiston, kPistonExecute, kPost, "/api/v2/execute", kJobs),
      foreign(kPiston, kPistonConnect, kGet, "/api/v2/connect", kJobs),
      foreign(kPiston, kPistonPackages, kGet, "/api/v2/packages", kInfos),
      foreign(kPiston, kPistonAddPackage, kPost, "/api/v2/packages", kInfos),
      foreign(kPiston, kPistonRemovePackage, Method::kDelete, "/api/v2/packages", kInfos),
      foreign(kDify, kDifyRun, kPost, "/v1/sandbox/run", kJobs),
      foreign(kDify, kDifyDependencies, kGet, "/v1/sandbox/dependencies", kInfos),
      foreign(kDify, kDifyHealth, kGet, "/health", kOpen),
      foreign(kGoJudge, kGoJudgeRun, kPost, "/run", kJobs),
      foreign(kGoJudge, kGoJudgeSocket, kGet, "/ws", kJobs),
      foreign(kGoJudge, kGoJudgeStream, kGet, "/stream", kJobs),
      foreign(kGoJudge, kGoJudgeListFiles, kGet, "/file", Scope::kBlobs),
      foreign(kGoJudge, kGoJudgeAddFile, kPost, "/file", Scope::kBlobs),
      foreign(kGoJudge, kGoJudgeGetFile, kGet, "/file/{id}", Scope::kBlobs),
      foreign(kGoJudge, kGoJudgeRemoveFile, Method::kDelete, "/file/{id}", Scope::kBlobs),
      foreign(kGoJudge, kGoJudgeVersion, kGet, "/version", kOpen),
      foreign(kGoJudge, kGoJudgeConfig, kGet, "/config", kOpen),
  };
}

// HEAD asks for what has one answer, and that at once (RFC 9110, 9.3.2).
bool has_head(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::kHealth:
    case Endpoint::kReady:
    case Endpoint::kMetrics:
    case Endpoint::kStats:
    case Endpoint::kInfo:
    case Endpoint::kRuntimes:
    case Endpoint::kTemplates:
    case Endpoint::kOpenApi:
      return true;
    default:
      return false;
  }
}

// The parameter, if the path is of this pattern.
std::optional<std::string> parameter_of(std::string_view pattern, std::string_view path) {
  const size_t brace = pattern.find('{');
  if (brace == pattern.npos) {
    if (path != pattern) return std::nullopt;
    return "";
  }
  if (!path.starts_with(pattern.substr(0, brace))) return std::nullopt;
  const std::string_view rest = path.substr(brace);
  if (rest.empty() || rest.find('/') != rest.npos) return std::nullopt;
  return std::string(rest);
}

}  // namespace

std::span<const Route> routes() {
  static const std::vector<Route> kRoutes = [] {
    std::vector<Route> all;
    for (Route& route : make_routes()) {
      Route head = route;
      head.method = Method::kHead;
      all.push_back(std::move(route));
      if (has_head(head.endpoint)) all.push_back(std::move(head));
    }
    for (Route& route : foreign_routes()) all.push_back(std::move(route));
    return all;
  }();
  return kRoutes;
}

Match match(Method method, std::string_view path, const Apis& apis) {
  Match result;
  for (const Route& route : routes()) {
    if (!apis.has(route.api)) continue;
    std::optional<std::string> parameter = parameter_of(route.pattern, path);
    if (!parameter) continue;
    if (route.method == method) return {&route, *std::move(parameter), ""};
    result.allow += (result.allow.empty() ? "" : ", ") + std::string(name_of(route.method));
  }
  return result;
}

}  // namespace service
