#include "service/apis/dify/dify.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "service/apis/parsed.h"

namespace service::dify {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr int64_t kWorkerTimeoutMs = 5000;  // the original's worker_timeout

Response json_response(int status, int code, std::string_view message, ordered_json data) {
  const ordered_json body = {{"code", code}, {"message", message}, {"data", std::move(data)}};
  return {.status = status,
          .body = body.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n"};
}

Response refusal(int status, std::string_view message) {
  return json_response(status, -400, message, nullptr);
}

// Empty if and only if the program ended well.
std::string error_of(const json& result) {
  const std::string label = result.at("label");
  const json& detail = result.at("detail");
  const std::string& err = result.at("stderr").at("text").get_ref<const std::string&>();
  if (label == "OK" || label == "NonDeterministicCode") return "";
  if (label == "TimeoutException") return "error: timeout\n";
  if (label == "UnsafeCode") {
    return fmt::format("{}error: operation not permitted: {}\n", err, detail.value("syscall", ""));
  }
  if (result.at("by") == "program" && !err.empty()) return err;
  return fmt::format("{}error: {}\n", err, detail.value("message", label));
}

int exit_code_of(const json& result, bool well) {
  if (result.at("label") == "TimeoutException") return -1;
  const json& code = result.at("exit").at("code");
  if (code.is_number() && (well || code != 0)) return code;
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
  const json job = {{"source", preload.empty() ? code : preload + "\n" + code},
                    {"template", language == "nodejs" ? "javascript" : python_template(defaults)},
                    {"limits", {{"wall_ms", kWorkerTimeoutMs}, {"cpu_ms", kWorkerTimeoutMs}}}};
  sys::Result<runtime::Job> read = runtime::parse_job(job.dump(), defaults);
  if (!read) return refusal(400, read.error().text());
  return std::move(read).value();
}

Response run_response(std::string_view text) {
  const json result = json::parse(text);
  const bool ours = result.at("by") == "sandbox" || result.at("by") == "caller";
  const std::string error = error_of(result);
  if (ours) return json_response(200, -500, error, nullptr);
  ordered_json data = {{"stdout", result.at("stdout").at("text")},
                       {"stderr", result.at("stderr").at("text")},
                       {"error", error},
                       {"exit_code", exit_code_of(result, error.empty())}};
  ordered_json& facts = data["zygo"];
  for (const char* key : {"id", "label", "by", "detail", "level"}) facts[key] = result.at(key);
  return json_response(200, 0, "success", std::move(data));
}

Response dependencies_response() {
  return json_response(200, 0, "success", {{"dependencies", ordered_json::array()}});
}

Response overloaded() { return json_response(503, -503, "Too many requests", nullptr); }

}  // namespace service::dify
