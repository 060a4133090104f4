// The schema of results: what result_json writes. Objects are closed, so that a field which is
// missing here fails the test that reads results by it.

#include <nlohmann/json.hpp>

#include "runtime/job/outcome.h"
#include "runtime/json/schema/schema.h"
#include "runtime/json/schema/words.h"
#include "sandbox/policy.h"

namespace runtime {

namespace {

using namespace schema;

ordered_json typed(const char* type) { return {{"type", type}}; }
ordered_json number() { return typed("number"); }
ordered_json whole() { return {{"type", "integer"}, {"minimum", 0}}; }
ordered_json boolean() { return typed("boolean"); }
ordered_json or_null(const char* type) { return {{"type", ordered_json::array({type, "null"})}}; }

// All of `always` are there, the others may be.
ordered_json record_of(const ordered_json& always,
                       const ordered_json& sometimes = ordered_json::object()) {
  ordered_json properties = always, required = ordered_json::array();
  for (const auto& [name, schema] : always.items()) required.push_back(name);
  properties.update(sometimes);
  return object_of(std::move(properties), std::move(required));
}

ordered_json by() {
  ordered_json names = ordered_json::array();
  for (By each : {By::kProgram, By::kLimit, By::kPolicy, By::kCaller, By::kSandbox})
    names.push_back(name_of(each));
  return {{"enum", std::move(names)}};
}

ordered_json level() {
  using sandbox::Level;
  ordered_json names = ordered_json::array();
  for (Level each : sandbox::kLevels) names.push_back(name_of(each));
  names.push_back(nullptr);
  return {{"enum", std::move(names)}};
}

ordered_json enforced() {
  ordered_json names = ordered_json::array();
  for (unsigned i = 0; i < sandbox::kLayerCount; ++i)
    names.push_back(name_of(static_cast<sandbox::Layer>(i)));
  return list_of({{"enum", std::move(names)}});
}

// Words and numbers by name; what they are depends on the label (docs/labels.md).
ordered_json detail() {
  ordered_json values = {{"type", ordered_json::array({"string", "number", "boolean", "null"})}};
  return {{"type", "object"}, {"additionalProperties", std::move(values)}};
}

ordered_json output() {
  return record_of(
      {{"text", text()}, {"bytes", whole()}, {"truncated", boolean()}, {"lossy", boolean()}});
}

ordered_json exit_status() {
  return record_of({{"code", or_null("integer")}, {"signal", or_null("string")}});
}

ordered_json exception() {
  return record_of({{"type", text()}, {"message", text()}, {"traceback", text()}});
}

ordered_json usage() {
  return record_of({{"cpu_ms", whole()},
                    {"wall_ms", whole()},
                    {"memory_peak_kb", whole()},
                    {"pids_peak", whole()},
                    {"contended", boolean()},
                    {"cpu_us", whole()},
                    {"wall_us", whole()}},
                   {{"stopped_us", whole()}, {"reruns", whole()}, {"rerun_cpu_us", whole()}});
}

ordered_json timing() {
  ordered_json laps = ordered_json::object();
  for (const char* station : {"admit", "lease", "fork", "confine", "run", "collect", "judge"})
    laps[station] = whole();
  return record_of(laps, {{"rollback", whole()}});
}

ordered_json determinism() {
  return record_of({}, {{"runs", whole()},
                        {"same", boolean()},
                        {"axis", text()},
                        {"where", text()},
                        {"mode", text()},
                        {"seed", whole()},
                        {"not_fixed", list_of(text())}});
}

ordered_json session() {
  return record_of(
      {{"node", or_null("string")}, {"parent", or_null("string")}, {"kept", boolean()}},
      {{"bytes", whole()}, {"why_not", text()}});
}

ordered_json outputs() {
  const ordered_json file = record_of({{"bytes", whole()}, {"executable", boolean()}},
                                      {{"text", text()}, {"b64", text()}});
  return {{"type", "object"}, {"additionalProperties", file}};
}

ordered_json outputs_refused() { return list_of(record_of({{"path", text()}, {"why", text()}})); }

ordered_json test() {
  const ordered_json skipped = record_of({{"name", text()}, {"skipped", {{"const", true}}}});
  const ordered_json ran = record_of({{"name", text()},
                                      {"label", text()},
                                      {"by", by()},
                                      {"ok", boolean()},
                                      {"detail", detail()},
                                      {"exit", exit_status()},
                                      {"stdout", output()},
                                      {"stderr", output()},
                                      {"usage", usage()}},
                                     {{"exception", exception()},
                                      {"score", number()},
                                      {"score_multiplier", number()},
                                      {"feedback", outputs()},
                                      {"feedback_refused", outputs_refused()}});
  return {{"anyOf", ordered_json::array({ran, skipped})}};
}

ordered_json summary() {
  return record_of(
      {{"total", whole()}, {"passed", whole()}, {"failed", whole()}, {"skipped", whole()}},
      {{"score", number()}});
}

ordered_json observed() {
  return record_of({{"syscall", text()},
                    {"count", whole()},
                    {"treatment", {{"enum", {"allowed", "failed quietly", "refused"}}}},
                    {"profile", or_null("string")}},
                   {{"errno", whole()}, {"argument", text()}});
}

// Of a job with `record`; what the text of the job can be, the schema of jobs says.
ordered_json record() {
  const ordered_json of_template =
      record_of({{"name", text()}, {"id", text()}, {"preloads", list_of(text())}},
                {{"interpreter", text()},
                 {"interpreter_digest", text()},
                 {"setup", text()},
                 {"image", text()}});
  const ordered_json by_path = {{"type", "object"}, {"additionalProperties", text()}};
  const ordered_json digests =
      record_of({{"job", text()}, {"source", text()}},
                {{"stdin", text()}, {"calls", text()}, {"files", by_path}});
  return record_of({{"digests", digests}, {"job", {{"type", "object"}}}},
                   {{"zygo", text()},
                    {"kernel", text()},
                    {"machine", text()},
                    {"template", of_template},
                    {"seed", whole()}});
}

// The service adds this: the place of the job in a trace.
ordered_json service() {
  return record_of(
      {{"trace",
        record_of(
            {{"trace_id", text()}, {"parent_id", text()}, {"span_id", text()}, {"flags", whole()}},
            {{"state", text()}})}});
}

}  // namespace

std::string result_schema() {
  return record_of({{"id", text()},
                    {"tag", ordered_json::object()},
                    {"label", text()},
                    {"by", by()},
                    {"ok", boolean()},
                    {"detail", detail()},
                    {"exit", exit_status()},
                    {"stdout", output()},
                    {"stderr", output()},
                    {"value", ordered_json::object()},
                    {"usage", usage()},
                    {"timing_us", timing()},
                    {"enforced", enforced()},
                    {"level", level()},
                    {"template", text()}},
                   {{"exception", exception()},
                    {"display", {{"type", "object"}}},
                    {"session", session()},
                    {"determinism", determinism()},
                    {"compile", record_of({{"cached", boolean()}, {"wall_ms", whole()}})},
                    {"tests", list_of(test())},
                    {"summary", summary()},
                    {"outputs", outputs()},
                    {"outputs_refused", outputs_refused()},
                    {"observed", list_of(observed())},
                    {"record", record()},
                    {"service", service()}})
      .dump();
}

}  // namespace runtime
