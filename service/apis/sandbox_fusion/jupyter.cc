#include "service/apis/sandbox_fusion/jupyter.h"

#include "service/apis/sandbox_fusion/parts.h"

namespace service::sandbox_fusion {

namespace {

constexpr double kUsualTotal = 45;
constexpr std::string_view kKernel = "python3";

// There is no limit of a single cell, as in the original, which reads one and forgets it.
void check_cell_timeout(Fields& fields) {
  const json* given = fields.find("cell_timeout");
  if (fields.has("cell_timeout") && (!given || !given->is_number()))
    fields.complain("float_type", "cell_timeout", "Input should be a valid number");
}

void check_kernel(Fields& fields) {
  const json* kernel = fields.find("kernel");
  if (fields.has("kernel") && (!kernel || *kernel != kKernel))
    fields.complain("literal_error", "kernel", "Input should be 'python3'");
}

json job_of(Fields& fields, const runtime::JobDefaults& defaults) {
  json calls = json::array();
  for (const std::string& cell : fields.texts("cells", true))
    calls.push_back({{"args", json::array({cell})}});
  check_cell_timeout(fields);
  check_kernel(fields);
  const int64_t milliseconds =
      milliseconds_of(fields.seconds("total_timeout").value_or(kUsualTotal));
  json job = {{"source", notebook_source()},
              {"template", template_of(python(), defaults)},
              {"mode", "call"},
              {"func", "run_cell"},
              {"calls", std::move(calls)},
              {"files", fields.files()},
              {"limits", {{"wall_ms", milliseconds}, {"cpu_ms", milliseconds}}}};
  fields.fetch_files(job);
  if (const int64_t megabytes = fields.whole("memory_limit_MB"); megabytes > 0)
    job["limits"]["memory_mb"] = megabytes;
  return job;
}

}  // namespace

std::variant<runtime::Job, Response> read_run_jupyter(std::string_view body,
                                                      const runtime::JobDefaults& defaults) {
  constexpr int kDeepest = 4;
  Complaints complaints;
  const std::optional<json> request = read_object(body, complaints, kDeepest);
  if (!request) return complaints.response();
  Fields fields(*request, complaints);
  const json job = job_of(fields, defaults);
  if (!complaints.empty()) return complaints.response();
  sys::Result<runtime::Job> read = runtime::parse_job(job.dump(), defaults);
  if (!read) return detail_response(400, read.error().text());
  return std::move(read).value();
}

Response run_jupyter_response(std::string_view text) {
  const json result = json::parse(text);
  Account account = account_of(result);
  const bool broken = account.status == "SandboxError";
  const json& value = result.at("value");
  // What cannot be told: too much of it.
  if (result.at("label") == "InvalidResult") account.run["stderr"] = result.at("detail").dump();
  ordered_json answer = {{"status", account.status},
                         {"message", account.message},
                         {"driver", broken ? ordered_json() : std::move(account.run)},
                         {"cells", value.is_array() ? value : json::array()},
                         {"executor_pod_name", nullptr},
                         {"files", files_of(result)},
                         {"zygo", our_facts(result)}};
  return {.body = answer.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n"};
}

}  // namespace service::sandbox_fusion
