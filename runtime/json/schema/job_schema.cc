// The schema of jobs, from the table of their fields.

#include <nlohmann/json.hpp>

#include "runtime/json/job/job_fields.h"
#include "runtime/json/job/job_parts.h"
#include "runtime/json/job/job_tests.h"
#include "runtime/json/schema/schema.h"
#include "runtime/json/schema/words.h"

namespace runtime {

namespace {

using namespace schema;

// Text, or what need not be text.
ordered_json bytes() { return {{"anyOf", {text(), object_of({{"b64", text()}}, {"b64"})}}}; }

ordered_json map_of(ordered_json values) {
  return {{"type", "object"}, {"additionalProperties", std::move(values)}};
}

ordered_json any() { return ordered_json::object(); }

ordered_json blob() { return {{"type", "string"}, {"pattern", "^sha256:[0-9a-f]{64}$"}}; }

ordered_json source() { return {{"anyOf", {text(), object_of({{"blob", blob()}}, {"blob"})}}}; }

ordered_json flags() {
  ordered_json schema = list_of(text());
  schema["maxItems"] = kMaxCompilerFlags;
  return schema;
}

ordered_json yes_or_no() { return {{"type", "boolean"}}; }

ordered_json file() {
  return {{"anyOf",
           {object_of({{"text", text()}, {"executable", yes_or_no()}}, {"text"}),
            object_of({{"b64", text()}, {"executable", yes_or_no()}}, {"b64"}),
            object_of({{"blob", blob()}, {"executable", yes_or_no()}}, {"blob"}),
            object_of({{"directory", {{"const", true}}}}, {"directory"})}}};
}

ordered_json test_case() {
  return object_of(
      {{"name", text()},
       {"stdin", bytes()},
       {"argv", list_of(text())},
       {"files", map_of(file())},
       {"args", list_of(any())},
       {"kwargs", map_of(any())},
       {"expect", any()},
       {"compare",
        {{"type", "string"}, {"pattern", "^(exact|lines|tokens|float:.+|json|checker)$"}}}});
}

ordered_json checker() {
  return object_of({{"template", text()},
                    {"source", text()},
                    {"files", map_of(file())},
                    {"sources", map_of(source())},
                    {"compiler_flags", flags()},
                    {"argv", list_of(text())},
                    {"protocol", {{"enum", {"testlib", "icpc"}}}},
                    {"feedback", yes_or_no()}},
                   {"template", "source"});
}

ordered_json calls() {
  return list_of(object_of({{"args", list_of(any())}, {"kwargs", map_of(any())}}));
}

ordered_json tests() {
  ordered_json schema = list_of(test_case());
  schema["maxItems"] = kMaxTests;
  return schema;
}

ordered_json integer(const Field& field) {
  return {{"type", "integer"}, {"minimum", field.min}, {"maximum", field.max}};
}

ordered_json choice(const Field& field) {
  ordered_json names = ordered_json::array();
  for (std::string_view name : field.choices) names.push_back(name);
  return {{"type", "string"}, {"enum", std::move(names)}};
}

ordered_json type_schema(const Field& field) {
  switch (field.kind) {
    case FieldKind::kObject:
      return object_of(ordered_json::object());
    case FieldKind::kInteger:
      return integer(field);
    case FieldKind::kBoolean:
      return {{"type", "boolean"}};
    case FieldKind::kChoice:
      return choice(field);
    case FieldKind::kText:
      return text();
    case FieldKind::kBytes:
      return bytes();
    case FieldKind::kSource:
      return source();
    case FieldKind::kTexts:
    case FieldKind::kGlobs:
    case FieldKind::kRequire:
      return list_of(text());
    case FieldKind::kFlags:
      return flags();
    case FieldKind::kSources:
      return map_of(source());
    case FieldKind::kEnvironment:
      return map_of(text());
    case FieldKind::kFiles:
      return map_of(file());
    case FieldKind::kInputs:
      return list_of(any());
    case FieldKind::kCalls:
      return calls();
    case FieldKind::kTests:
      return tests();
    case FieldKind::kChecker:
    case FieldKind::kInteractor:
      return checker();
    case FieldKind::kJson:
      break;
  }
  return any();
}

// A default is told in words: where it is a keyword, generators of clients take the field for one
// that is always there, and want it in every request. It may be another one here, too (--defaults).
std::string description_of(const Field& field) {
  std::string text(field.meaning);
  const std::string value = default_of(field);
  return value == "-" ? text : text + " Default: " + value + ".";
}

}  // namespace

std::string job_schema() {
  ordered_json job = object_of(ordered_json::object(), {"source"});
  for (const Field& field : job_fields()) {
    ordered_json schema = type_schema(field);
    schema["description"] = description_of(field);
    const size_t dot = field.path.find('.');
    ordered_json& parent =
        dot == field.path.npos ? job : job["properties"][std::string(field.path.substr(0, dot))];
    parent["properties"][std::string(field.path.substr(dot == field.path.npos ? 0 : dot + 1))] =
        std::move(schema);
  }
  return job.dump();
}

}  // namespace runtime
