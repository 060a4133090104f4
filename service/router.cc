#include "service/router.h"

#include <optional>

namespace service {

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kLines = "application/x-ndjson";
constexpr std::string_view kBytes = "application/octet-stream";
constexpr Parameter kPatience{"X-Zygo-Patience", "header",
                              "Seconds within which a job must have started; else 429."};

std::vector<Route> make_routes() {
  return {
      {Endpoint::kPostJob,
       Method::kPost,
       "/v1/jobs",
       Scope::kJobs,
       "Run one job. Answers with its result, or at once with an id.",
       kJson,
       kJson,
       {200, 202, 400, 429},
       {{"async", "query", "1: answer 202 with an id at once."}, kPatience}},
      {Endpoint::kGetJob,
       Method::kGet,
       "/v1/jobs/{id}",
       Scope::kJobs,
       "The result of a job that was sent with async=1, or its state while there is none.",
       "",
       kJson,
       {200, 202, 400, 404, 429},
       {{"wait", "query", "Seconds, up to 300, to wait for the result."}}},
      {Endpoint::kDeleteJob,
       Method::kDelete,
       "/v1/jobs/{id}",
       Scope::kJobs,
       "Cancel a job. Answers with its result: Cancelled, unless it had ended before.",
       "",
       kJson,
       {200, 404}},
      {Endpoint::kPostBatch,
       Method::kPost,
       "/v1/batches",
       Scope::kJobs,
       "Run many jobs: a line each, or {\"defaults\", \"jobs\"}. Results in order of completion.",
       kLines,
       kLines,
       {200, 400, 429},
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
       {201, 400}},
      {Endpoint::kGetBlob,
       Method::kGet,
       "/v1/blobs/{digest}",
       Scope::kBlobs,
       "The contents.",
       "",
       kBytes,
       {200, 400, 404}},
      {Endpoint::kHeadBlob,
       Method::kHead,
       "/v1/blobs/{digest}",
       Scope::kBlobs,
       "Is it there?",
       "",
       kBytes,
       {200, 400, 404}},
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
      foreign(kPiston, kPistonRuntimes, kGet, "/api/v2/runtimes", kInfos),
      foreign(kPiston, kPistonExecute, kPost, "/api/v2/execute", kJobs),
      foreign(kDify, kDifyRun, kPost, "/v1/sandbox/run", kJobs),
      foreign(kDify, kDifyDependencies, kGet, "/v1/sandbox/dependencies", kInfos),
      foreign(kDify, kDifyHealth, kGet, "/health", kOpen),
  };
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
    std::vector<Route> all = make_routes();
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
