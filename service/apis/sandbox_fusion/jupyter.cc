#include "service/apis/sandbox_fusion/jupyter.h"

#include "service/apis/notebook.h"
#include "service/apis/results.h"
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

runtime::JobBuilder job_of(Fields& fields, const runtime::JobDefaults& defaults) {
  runtime::JobBuilder job(defaults);
  job.source(std::string(notebook_source()));
  job.template_name(template_of(python(), defaults));
  job.calls("run_cell", fields.texts("cells", true));
  check_cell_timeout(fields);
  check_kernel(fields);
  Fields::limit_time(job, fields.seconds("total_timeout").value_or(kUsualTotal));
  fields.place_files(job);
  fields.fetch_files(job);
  fields.limit_memory(job);
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
  runtime::JobBuilder job = job_of(fields, defaults);
  if (!complaints.empty()) return complaints.response();
  sys::Result<runtime::Job> read = std::move(job).finish();
  if (!read) return detail_response(400, read.error().text());
  return std::move(read).value();
}

Response run_jupyter_response(const runtime::JobResult& result) {
  Account account = account_of(ran_of(result));
  const bool broken = account.status == "SandboxError";
  json cells = cells_of(result);
  // This output cannot be told: there is too much of it.
  if (result.verdict.outcome == runtime::Outcome::kInvalidResult)
    account.run["stderr"] = text_of_detail(result.verdict);
  const ordered_json answer = {{"status", account.status},
                               {"message", account.message},
                               {"driver", broken ? ordered_json() : std::move(account.run)},
                               {"cells", std::move(cells)},
                               {"executor_pod_name", nullptr},
                               {"files", files_of(result)},
                               {"zygo", our_facts(result)}};
  return {.status = http_status_of(result.verdict), .body = line_of(answer)};
}

}  // namespace service::sandbox_fusion
