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
ordered_json reference(const char* name) {
  return {{"$ref", std::string("#/components/schemas/") + name}};
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

// A number; an infinite one has the tagged form of values.
ordered_json score() {
  const ordered_json tagged = closed({{"$type", {{"const", "float"}}},
                                      {"value", {{"enum", ordered_json::array({"inf", "-inf"})}}}});
  return {{"anyOf",
           ordered_json::array({{{"type", ordered_json::array({"number", "null"})}}, tagged})}};
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

ordered_json steps_to_try() {
  ordered_json steps = list_of(reference("Step"));
  steps["maxItems"] = TryBody::kMostSteps;
  const ordered_json best =
      closed({{"best", {{"type", "integer"}, {"minimum", 1}, {"maximum", TryBody::kMostSteps}}}});
  const ordered_json keep = {
      {"anyOf",
       ordered_json::array({{{"enum", ordered_json::array({"all", "ok", "none"})}}, best})}};
  ordered_json of_score = fields_of_job(
      {"inputs", "calls", "mode", "session", "tenant", "tests", "id", "record"}, false);
  of_score["required"] = ordered_json::array({"source", "func"});
  return closed({{"steps", steps}}, {{"keep", keep}, {"score", of_score}});
}

ordered_json tried() {
  const ordered_json kept = closed({{"index", whole()}, {"node", text()}}, {{"score", score()}});
  const ordered_json summary =
      closed({{"summary", closed({{"steps", whole()}, {"ok", whole()}, {"kept", list_of(kept)}})}});
  const ordered_json line =
      result_with({{"index", whole()}, {"node", text_or_null()}, {"parent", text()}},
                  {{"score", score()}, {"why_no_score", text()}});
  const ordered_json failed = reference("Error");
  return {{"anyOf", ordered_json::array({line, summary, failed})}};
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

ordered_json session_list() {
  const ordered_json session = closed({{"session", text()},
                                       {"tenant", text_or_null()},
                                       {"template", text()},
                                       {"nodes", whole()},
                                       {"began", text()},
                                       {"last", text()}});
  return closed({{"sessions", list_of(session)}, {"more", whole()}});
}

}  // namespace

std::vector<std::pair<std::string, std::string>> session_schemas() {
  const ordered_json log =
      closed({{"session", text()}, {"node", text()}, {"steps", list_of({{"type", "object"}})}});
  return {{"Beginning", fields_of_job({"session"}, true).dump()},
          {"SessionBegun", closed({{"session", text()}, {"node", text()}}).dump()},
          {"SessionList", session_list().dump()},
          {"SessionTree", tree().dump()},
          {"SessionEnded", closed({{"session", text()}, {"ended", yes_or_no()}}).dump()},
          {"Step", fields_of_job({"session", "tenant"}, true).dump()},
          {"StepResult", result_with({{"node", text_or_null()}, {"parent", text_or_null()}},
                                     {{"replayed", whole()}})
                             .dump()},
          {"Steps", steps_to_try().dump()},
          {"Tried", tried().dump()},
          {"NodeLog", log.dump()},
          {"NodeFreed", closed({{"node", text()}, {"freed", yes_or_no()}}).dump()}};
}

}  // namespace service
