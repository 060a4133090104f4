#include "service/sessions/session_schemas.h"

#include <nlohmann/json.hpp>

#include "runtime/json/schema/schema.h"
#include "service/sessions/step_reader.h"

namespace service {

namespace {

using nlohmann::ordered_json;

ordered_json text() { return {{"type", "string"}}; }
ordered_json whole() { return {{"type", "integer"}, {"minimum", 0}}; }
ordered_json yes_or_no() { return {{"type", "boolean"}}; }
ordered_json text_or_null() { return {{"type", ordered_json::array({"string", "null"})}}; }
ordered_json list_of(ordered_json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}
ordered_json closed(const ordered_json& always, const ordered_json& sometimes = {}) {
  ordered_json required = ordered_json::array(), properties = always;
  for (const auto& [name, schema] : always.items()) required.push_back(name);
  for (const auto& [name, schema] : sometimes.items()) properties[name] = schema;
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

// The fields of a job, without these, and with those of a log, which are passed over.
ordered_json fields_of_job(std::initializer_list<const char*> without, bool passes_log) {
  ordered_json job = ordered_json::parse(runtime::job_schema());
  job.erase("required");
  for (const char* name : without) job["properties"].erase(name);
  for (const std::string_view name : kOfLog) {
    if (passes_log) job["properties"][std::string(name)] = ordered_json::object();
  }
  return job;
}

// A result with more fields in front.
ordered_json result_with(const ordered_json& always, const ordered_json& sometimes = {}) {
  ordered_json result = ordered_json::parse(runtime::result_schema());
  for (const auto& [name, schema] : always.items()) {
    result["properties"][name] = schema;
    result["required"].push_back(name);
  }
  for (const auto& [name, schema] : sometimes.items()) result["properties"][name] = schema;
  return result;
}

ordered_json tree() {
  const ordered_json node = closed({{"node", text()},
                                    {"parent", text_or_null()},
                                    {"label", text()},
                                    {"time", text()},
                                    {"bytes", whole()},
                                    {"there", yes_or_no()}},
                                   {{"why_gone", text()}});
  return closed({{"session", text()}, {"template", text()}, {"nodes", list_of(node)}});
}

}  // namespace

std::vector<std::pair<std::string, std::string>> session_schemas() {
  const ordered_json log =
      closed({{"session", text()}, {"node", text()}, {"steps", list_of({{"type", "object"}})}});
  return {
      {"Beginning", fields_of_job({"session"}, true).dump()},
      {"SessionBegun", closed({{"session", text()}, {"node", text()}}).dump()},
      {"SessionTree", tree().dump()},
      {"SessionEnded", closed({{"session", text()}, {"ended", yes_or_no()}}).dump()},
      {"Step", fields_of_job({"session", "tenant"}, true).dump()},
      {"StepResult", result_with({{"node", text_or_null()}, {"parent", text_or_null()}}).dump()},
      {"NodeLog", log.dump()},
      {"NodeFreed", closed({{"node", text()}, {"freed", yes_or_no()}}).dump()}};
}

}  // namespace service
