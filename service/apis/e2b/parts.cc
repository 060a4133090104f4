#include "service/apis/e2b/parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "service/apis/e2b/request.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"
#include "service/jupyter/prelude.h"

namespace service::e2b {

namespace {

// The modules of envd.py, so that no later step has to import them, and where shells say they are.
const std::string kModules =
    "import datetime, json, os, re, shutil, stat, subprocess, tarfile\n"
    "if os.path.isdir('/home/user'): os.environ.setdefault('PWD', '/home/user')\n"
    "del datetime, json, os, re, shutil, stat, subprocess, tarfile\n";
// As long as the SDKs wait for code and commands, if nothing is said.
constexpr sys::Milliseconds kUsualWait{60'000};

}  // namespace

std::string template_of(const std::string& asked, const runtime::JobDefaults& defaults) {
  const bool is_e2bs = asked.empty() || asked == "base" || asked.starts_with("code-interpreter");
  return is_e2bs ? python_template(defaults) : asked;
}

// The operator's own profile counts; if there is none, sandboxes may start programs.
std::string fields_of(const Beginning& beginning, const runtime::JobDefaults& defaults) {
  const runtime::Limits& limits = defaults.job.limits;
  const std::string source =
      kModules + jupyter::prelude_step(beginning.word, jupyter::Host::kInterpreter);
  nlohmann::ordered_json fields = {{"template", beginning.template_name},
                                   {"source", source},
                                   {"limits",
                                    {{"wall_ms", std::max(limits.wall, kUsualWait).count()},
                                     {"cpu_ms", std::max(limits.cpu, kUsualWait).count()}}}};
  if (!defaults.job.policy.has_profile) fields["policy"] = {{"profile", "subprocess"}};
  if (!beginning.env.empty()) fields["env"] = nlohmann::ordered_json(beginning.env);
  return line_of(fields);
}

Steps::Task task_of(const Order& order) {
  Steps::Task task;
  task.fill = [source = source_of(order)](runtime::Job& job) { job.source = source; };
  task.note = note_of(order);
  task.words = [](const runtime::JobResult& result) { return file_call_response(result); };
  task.told = [](const Steps::Outcome&) {};
  return task;
}

bool is_gone(const ForeignSessions::Refusal& refusal) {
  return refusal.status == 404 || refusal.status == 410;
}

RpcError error_of(const ForeignSessions::Refusal& refusal) {
  // The SDKs take "unavailable" for a sandbox that has ended.
  if (is_gone(refusal)) return {"unavailable", refusal.why, 502};
  switch (refusal.status) {
    case 409:
      return {"aborted", refusal.why};
    case 429:
    case 503:
    case 507:
      return {"resource_exhausted", refusal.why, refusal.status};
    default:
      return {"internal", refusal.why};
  }
}

Response plain(int status, std::string text) {
  return {.status = status, .body = std::move(text), .type = "text/plain; charset=utf-8"};
}

Sandbox* sandbox_of(const ExchangePtr& exchange, SandboxStore& store) {
  const auto refuse = [&exchange](Response response) {
    exchange->answer(std::move(response));
    return nullptr;
  };
  const Request& request = exchange->request;
  const std::string id = sandbox_named(request);
  Sandbox* sandbox = store.find(id);
  if (!sandbox) return refuse(plain(502, fmt::format("the sandbox {} was not found", id)));
  if (!brings_secret(request, sandbox->secret)) {
    if (request.query_value("signature"))
      return refuse(refusal(501, "signed URLs are not offered here"));
    return refuse(plain(401, "the access token is not that of the sandbox"));
  }
  if (sandbox->paused) return refuse(plain(502, fmt::format("the sandbox {} is paused", id)));
  exchange->client = sandbox->client;
  return sandbox;
}

Context* context_of(const ExchangePtr& exchange, Sandbox& sandbox, const std::string& id) {
  Context* context = sandbox.context(id);
  if (!context) exchange->answer(plain(404, fmt::format("context {} was not found", id)));
  return context;
}

}  // namespace service::e2b
