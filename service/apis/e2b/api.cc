#include "service/apis/e2b/api.h"

#include <fmt/format.h>

#include <algorithm>

namespace service::e2b {

E2bApi::E2bApi(const ApiContext& context)
    : context_(context),
      store_(SandboxStore::Limits{}),
      steps_(context_.foreign_sessions, store_, context_.loop, kName),
      sandboxes_({context_, store_, steps_}),
      contexts_({context_, store_, steps_}, lost()),
      inside_({context_, store_, steps_}, lost()) {}

Lost E2bApi::lost() {
  return [this](const std::string& sandbox, const std::string& context, const std::string& why) {
    return sandboxes_.lose(sandbox, context, why);
  };
}

// Other APIs have some of these paths, too; a request that names a sandbox is ours.
Routes E2bApi::routes() {
  Routes all = contexts_.routes();
  std::ranges::move(inside_.routes(), std::back_inserter(all));
  for (Route& route : all)
    route.is_for = [](const Request& request) { return !sandbox_named(request).empty(); };
  std::ranges::move(sandboxes_.routes(), std::back_inserter(all));
  return all;
}

std::optional<Response> E2bApi::answer_without_route(const Request& request) const {
  constexpr std::string_view kInside[] = {"/execute", "/contexts", "/files",
                                          "/filesystem.Filesystem", "/process.Process"};
  constexpr std::string_view kKnown[] = {"/sandboxes", "/v2/sandboxes", "/snapshots",
                                         "/templates", "/v2/templates", "/v3/templates",
                                         "/volumes",   "/secrets",      "/teams"};
  // It is that, or below it.
  const auto is_of = [path = std::string_view(request.path)](std::string_view known) {
    return path.starts_with(known) && (path.size() == known.size() || path[known.size()] == '/');
  };
  const bool names_one = !sandbox_named(request).empty();
  const bool is_inside = std::ranges::any_of(kInside, is_of);
  if (is_inside && !names_one) return plain(400, "the request names no sandbox (E2b-Sandbox-Id)");
  if (!is_inside && std::ranges::none_of(kKnown, is_of)) return std::nullopt;
  return refusal(501,
                 fmt::format("{} {} is not offered here", name_of(request.method), request.path));
}

}  // namespace service::e2b
