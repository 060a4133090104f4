#include "service/apis/dify/dify.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/json/job/job_builder.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"

namespace service::dify {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr int64_t kWorkerTimeoutMs = 5000;  // the original's worker_timeout

Response json_response(int status, int code, std::string_view message, ordered_json data) {
  const ordered_json body = {{"code", code}, {"message", message}, {"data", std::move(data)}};
  return {.status = status, .body = line_of(body)};
}

Response refusal(int status, std::string_view message) {
  return json_response(status, -400, message, nullptr);
}

// Empty if and only if the program ended well.
std::string error_of(const runtime::JobResult& result) {
  const runtime::Verdict& verdict = result.verdict;
  if (ended_well(verdict)) return "";
  if (verdict.outcome == runtime::Outcome::kTimeout) return "error: timeout\n";
  const std::string err = text_of(result.err);
  if (verdict.outcome == runtime::Outcome::kUnsafeCode) {
    const std::string* call = detail_text(verdict, "syscall");
    return fmt::format("{}error: operation not permitted: {}\n", err, call ? *call : "");
  }
  if (verdict.by == runtime::By::kProgram && !err.empty()) return err;
  const std::string* message = detail_text(verdict, "message");
  return fmt::format("{}error: {}\n", err, message ? *message : verdict.label());
}

int exit_code_of(const runtime::JobResult& result, bool well) {
  const bool has_code = result.exit && !result.exit->signalled;
  if (result.verdict.outcome == runtime::Outcome::kTimeout) return -1;
  if (has_code && (well || result.exit->code != 0)) return result.exit->code;
  return well ? 0 : -1;
}

}  // namespace

std::variant<runtime::Job, Response> read_run(std::string_view body,
                                              const runtime::JobDefaults& defaults) {
  const json request = parsed(body);
  if (!request.is_object()) return refusal(400, "the body is not a JSON object");
  const auto text = [&request](const char* name) -> std::string {
    const auto found = request.find(name);
    return found != request.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const std::string language = text("language"), code = text("code"), preload = text("preload");
  if (language != "python3" && language != "nodejs") return refusal(400, "unsupported language");
  if (code.empty()) return refusal(400, "code is required as a string");
  runtime::JobBuilder job(defaults);
  job.source(preload.empty() ? code : preload + "\n" + code);
  job.template_name(language == "nodejs" ? "javascript" : python_template(defaults));
  job.limit("wall_ms", kWorkerTimeoutMs);
  job.limit("cpu_ms", kWorkerTimeoutMs);
  sys::Result<runtime::Job> read = std::move(job).finish();
  if (!read) return refusal(400, read.error().text());
  return std::move(read).value();
}

Response run_response(const runtime::JobResult& result) {
  const std::string error = error_of(result);
  if (is_not_the_programs(result.verdict)) return json_response(200, -500, error, nullptr);
  ordered_json data = {{"stdout", text_of(result.out)},
                       {"stderr", text_of(result.err)},
                       {"error", error},
                       {"exit_code", exit_code_of(result, error.empty())},
                       {"zygo", facts_of(result)}};
  return json_response(200, 0, "success", std::move(data));
}

Response dependencies_response() {
  return json_response(200, 0, "success", {{"dependencies", ordered_json::array()}});
}

Response overloaded() { return json_response(503, -503, "Too many requests", nullptr); }

}  // namespace service::dify
