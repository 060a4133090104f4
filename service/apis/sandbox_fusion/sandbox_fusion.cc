#include "service/apis/sandbox_fusion/sandbox_fusion.h"

#include "service/apis/results.h"
#include "service/apis/sandbox_fusion/parts.h"

namespace service::sandbox_fusion {

namespace {

runtime::JobBuilder job_of(Fields& fields, const Language* language,
                           const runtime::JobDefaults& defaults) {
  runtime::JobBuilder job(defaults);
  Fields::limit_time(job, fields.seconds("run_timeout").value_or(kUsualSeconds));
  fields.seconds("compile_timeout");  // a runtime's own limit holds
  const std::string code = fields.text("code", true);
  job.source(language ? source_of(*language, code) : code);
  job.stdin_bytes(fields.text("stdin", false));
  fields.place_files(job);
  fields.fetch_files(job);
  fields.limit_memory(job);
  if (language && !language->runtime.empty()) job.template_name(template_of(*language, defaults));
  return job;
}

}  // namespace

std::variant<runtime::Job, Response> read_run_code(std::string_view body,
                                                   const runtime::JobDefaults& defaults) {
  constexpr int kDeepest = 4;
  Complaints complaints;
  const std::optional<json> request = read_object(body, complaints, kDeepest);
  if (!request) return complaints.response();
  Fields fields(*request, complaints);
  // A kindness to clients that leave it out.
  const Language* language = fields.language("language", &python());
  runtime::JobBuilder job = job_of(fields, language, defaults);
  if (!complaints.empty()) return complaints.response();
  if (language->runtime.empty()) return not_offered(*language);
  sys::Result<runtime::Job> read = std::move(job).finish();
  if (!read) return detail_response(400, read.error().text());
  return std::move(read).value();
}

Response run_code_response(const runtime::JobResult& result) {
  return {.status = http_status_of(result.verdict), .body = line_of(run_code_answer(result))};
}

Response try_again(std::string_view why) { return detail_response(504, why); }

}  // namespace service::sandbox_fusion
