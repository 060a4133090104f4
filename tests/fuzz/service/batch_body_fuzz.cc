// The body of a batch over HTTP: any bytes. What is read has one entry for each line, ids that are
// not there twice, and jobs that can be made again of what is kept of them.

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "service/durable/durable_request.h"
#include "tests/fuzz/input.h"

namespace {

bool knows_template(const std::string& name) { return name == "python"; }

void check_kept(const service::DurableRequest& arrival, const service::DurableRequest::Job& kept) {
  const service::StoredJob stored{.number = 1,
                                  .name = kept.name,
                                  .body = kept.body,
                                  .defaults = arrival.defaults,
                                  .template_name = arrival.template_name};
  const service::LoadedJob again = service::job_of(stored, knows_template);
  VERIFY(again.verdict.empty());
  VERIFY(again.job.id == kept.name);
  VERIFY(again.job.priority == kept.priority);
  const service::Finished cancelled = service::cancelled_unseen(again.job, true);
  VERIFY(nlohmann::json::parse(cancelled.json, nullptr, false)["id"] == kept.name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size);
  service::ServiceDefaults under;
  under.text = R"({"argv": ["a"]})";
  under.parsed = runtime::parse_defaults(under.text).value();
  service::DurableRequest arrival;
  if (!service::put_batch(body, under, knows_template, arrival)) return 0;
  std::unordered_set<std::string> ids;
  for (const service::DurableRequest::Job& job : arrival.jobs) {
    VERIFY(ids.insert(job.name).second);
    if (job.verdict.empty()) {
      check_kept(arrival, job);
    } else {
      const auto result = nlohmann::json::parse(job.verdict, nullptr, false);
      VERIFY(result["label"] == "BadJob" && result["id"] == job.name);
    }
  }
  return 0;
}
