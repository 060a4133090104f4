#include "service/durable/durable_request.h"

#include "images/sha256.h"
#include "runtime/json/result/result_json.h"
#include "runtime/judging/judge.h"
#include "service/apis/native/batch_reader.h"

namespace service {

using sys::Result;

namespace {

// A job and a batch of the same bytes are not the same.
std::string digest_of(std::string_view kind, std::string_view body) {
  images::Sha256 digest;
  digest.add(kind);
  digest.add(body);
  return digest.hex();
}

std::string json_of(const runtime::JobResult& result) {
  std::string json;
  runtime::append_result(result, json);
  return json;
}

std::string unknown_template(const std::string& name) {
  return "template: \"" + name + "\" is not known; GET /v1/templates has them";
}

DurableRequest::Job job_of_item(BatchReader::Item item, size_t line,
                                const KnowsTemplate& knows_template) {
  DurableRequest::Job made{.name = std::move(item.id), .patience = {}, .body = "", .verdict = ""};
  if (auto* verdict = std::get_if<std::string>(&item.content)) {
    made.verdict = std::move(*verdict);
    return made;
  }
  auto& job = std::get<runtime::Job>(item.content);
  if (!knows_template(job.template_name)) {
    made.verdict = json_of(
        runtime::bad_job(line, made.name, std::move(job.tag), unknown_template(job.template_name)));
    return made;
  }
  made.priority = job.priority;
  made.patience = job.deadline;
  made.body = std::string(item.line);
  return made;
}

}  // namespace

std::string digest_of_job(std::string_view body) { return digest_of("job\n", body); }

void put_job(std::string body, DurableRequest& arrival) {
  arrival.digest = digest_of_job(body);
  arrival.jobs.at(0).body = std::move(body);
}

Result<void> put_batch(const std::string& text, const ServiceDefaults& under,
                       const KnowsTemplate& knows_template, DurableRequest& arrival) {
  arrival.digest = digest_of("batch\n", text);
  BatchBody body = TRY(BatchBody::read(text));
  const bool own_defaults = body.defaults.has_value();
  arrival.defaults = own_defaults ? body.defaults_text : under.text;
  arrival.template_name = own_defaults ? "" : under.parsed.job.template_name;
  BatchReader reader(std::move(body), text, under.parsed);
  while (std::optional<BatchReader::Item> item = reader.next())
    arrival.jobs.push_back(job_of_item(*std::move(item), reader.line_number(), knows_template));
  return {};
}

LoadedJob job_of(const StoredJob& stored, const KnowsTemplate& knows_template) {
  LoadedJob loaded{.number = stored.number, .job = {}, .verdict = ""};
  loaded.job.id = stored.name;
  runtime::JobDefaults under;
  Result<runtime::Job> job = [&]() -> Result<runtime::Job> {
    if (!stored.defaults.empty()) under = TRY(runtime::parse_defaults(stored.defaults));
    if (!stored.template_name.empty()) under.job.template_name = stored.template_name;
    return runtime::parse_job(stored.body, under);
  }();
  if (!job) {
    loaded.verdict = json_of(runtime::bad_job(1, stored.name, runtime::identity_of(stored.body).tag,
                                              job.error().text()));
    return loaded;
  }
  loaded.job = std::move(job).value();
  loaded.job.id = stored.name;
  if (knows_template(loaded.job.template_name)) return loaded;
  // It was, when the job was taken: the operator's doing, not the caller's.
  runtime::JobResult failed;
  failed.id = stored.name;
  failed.tag = loaded.job.tag;
  runtime::Evidence seen;
  seen.fault = {.step = shim::Step::kTemplate,
                .message = unknown_template(loaded.job.template_name)};
  failed.verdict = runtime::judge(seen, {});
  loaded.verdict = json_of(failed);
  return loaded;
}

Finished cancelled_unseen(const runtime::Job& job, bool expired) {
  runtime::JobResult result;
  result.id = job.id;
  result.tag = job.tag;
  runtime::Evidence seen;
  seen.cancelled = true;
  result.verdict = runtime::judge(seen, {});
  if (expired)
    result.verdict.detail.emplace_back("message", "it could not be started in the time given");
  Finished finished;
  finished.json = json_of(result);
  finished.label = result.verdict.label();
  finished.template_name = job.template_name;
  finished.expired = expired;
  return finished;
}

}  // namespace service
