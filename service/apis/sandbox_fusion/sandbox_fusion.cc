#include "service/apis/sandbox_fusion/sandbox_fusion.h"

#include "service/apis/sandbox_fusion/parts.h"

namespace service::sandbox_fusion {

namespace {

json job_of(Fields& fields, const Language* language, const runtime::JobDefaults& defaults) {
  const int64_t milliseconds =
      milliseconds_of(fields.seconds("run_timeout").value_or(kUsualSeconds));
  fields.seconds("compile_timeout");  // a runtime's own limit holds
  const std::string code = fields.text("code", true);
  json job = {{"source", language ? source_of(*language, code) : code},
              {"stdin", fields.text("stdin", false)},
              {"files", fields.files()},
              {"limits", {{"wall_ms", milliseconds}, {"cpu_ms", milliseconds}}}};
  fields.fetch_files(job);
  if (const int64_t megabytes = fields.whole("memory_limit_MB"); megabytes > 0)
    job["limits"]["memory_mb"] = megabytes;
  if (language) job["template"] = template_of(*language, defaults);
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
  const json job = job_of(fields, language, defaults);
  if (!complaints.empty()) return complaints.response();
  if (language->runtime.empty()) return not_offered(*language);
  sys::Result<runtime::Job> read = runtime::parse_job(job.dump(), defaults);
  if (!read) return detail_response(400, read.error().text());
  return std::move(read).value();
}

Response run_code_response(std::string_view result) {
  return {.body = run_code_answer(json::parse(result)).dump() + "\n"};
}

Response try_again(std::string_view why) { return detail_response(504, why); }

}  // namespace service::sandbox_fusion
