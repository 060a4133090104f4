// The routes as an OpenAPI document.

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/json/schema/schema.h"
#include "service/apis/native/operation.h"

namespace service {

namespace {

using nlohmann::ordered_json;

// Any request may get these: malformed, unknown, without leave, too large or slow, in a bad hour.
constexpr int kOfOpen[] = {400, 408, 413, 414, 415, 417, 431, 500, 501, 503, 505};
constexpr int kOfGuarded[] = {401, 403};

ordered_json reference(const std::string& name) { return {{"$ref", "#/components/" + name}}; }

ordered_json parameters_of(const Description& route) {
  ordered_json list = ordered_json::array();
  const size_t brace = route.pattern.find('{');
  if (brace != route.pattern.npos) {
    const size_t end = route.pattern.find('}');
    list.push_back({{"name", route.pattern.substr(brace + 1, end - brace - 1)},
                    {"in", "path"},
                    {"required", true},
                    {"schema", {{"type", "string"}}}});
  }
  for (const Parameter& parameter : route.parameters) {
    list.push_back({{"name", parameter.name},
                    {"in", parameter.in},
                    {"description", parameter.meaning},
                    {"schema", {{"type", "string"}}}});
  }
  return list;
}

ordered_json content_of(const Description& route, int status) {
  constexpr int kAccepted = 202;
  if (status == kAccepted)
    return {{"application/json", {{"schema", reference("schemas/Accepted")}}}};
  ordered_json schema = ordered_json::object();
  if (!route.gives_schema.empty()) schema = reference("schemas/" + std::string(route.gives_schema));
  if (route.gives_shape == Description::Shape::kResult) schema = reference("schemas/Result");
  return {{route.gives, {{"schema", schema}}}};
}

ordered_json response_of(const Description& route, int status) {
  if (status >= 400) return reference("responses/Error");
  ordered_json response = {{"description", reason_of(status)}};
  if (route.method != Method::kHead && status != 101)
    response["content"] = content_of(route, status);
  return response;
}

// "getJobsById" of GET /v1/jobs/{id}: what generated clients call it.
std::string operation_id(const Description& route) {
  std::string id(name_of(route.method));
  for (char& c : id) c = static_cast<char>(c | 0x20);
  std::string_view left = route.pattern;
  if (left.starts_with("/v1")) left.remove_prefix(3);
  bool begins_word = true;
  for (const char c : left) {
    const bool is_letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (c == '{') id += "By";
    if (is_letter) id += begins_word && c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c;
    begins_word = !is_letter;
  }
  return id;
}

ordered_json operation_of(const Description& route) {
  ordered_json operation = {{"operationId", operation_id(route)},
                            {"summary", route.summary},
                            {"parameters", parameters_of(route)}};
  if (!route.takes.empty()) {
    ordered_json schema = ordered_json::object();
    if (route.takes_shape == Description::Shape::kJob) schema = reference("schemas/Job");
    if (!route.takes_schema.empty())
      schema = reference("schemas/" + std::string(route.takes_schema));
    operation["requestBody"] = {{"required", true},
                                {"content", {{route.takes, {{"schema", schema}}}}}};
  }
  std::set<int> statuses(route.statuses.begin(), route.statuses.end());
  statuses.insert(std::begin(kOfOpen), std::end(kOfOpen));
  if (route.scope != Scope::kOpen) statuses.insert(std::begin(kOfGuarded), std::end(kOfGuarded));
  for (int status : statuses)
    operation["responses"][std::to_string(status)] = response_of(route, status);
  if (route.scope == Scope::kOpen) operation["security"] = ordered_json::array();
  return operation;
}

ordered_json closed(ordered_json properties, ordered_json required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

ordered_json components() {
  const ordered_json text = {{"type", "string"}};
  const ordered_json whole = {{"type", "integer"}, {"minimum", 0}};
  const ordered_json error = closed({{"code", text}, {"message", text}, {"path", text}},
                                    ordered_json::array({"code", "message"}));
  return {{"schemas",
           {{"Error", closed({{"error", error}}, ordered_json::array({"error"}))},
            {"Accepted", closed({{"id", text}, {"state", text}, {"jobs", whole}, {"left", whole}},
                                ordered_json::array({"id"}))},
            {"Job", ordered_json::parse(runtime::job_schema())},
            {"Result", ordered_json::parse(runtime::result_schema())}}},
          {"responses",
           {{"Error",
             {{"description", "What was wrong, or when to come back (Retry-After)."},
              {"content", {{"application/json", {{"schema", reference("schemas/Error")}}}}}}}}},
          {"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}};
}

}  // namespace

std::string openapi_json(std::string_view version, const Described& service) {
  ordered_json paths = ordered_json::object();
  for (const Description& route : service.operations) {
    std::string method(name_of(route.method));
    std::transform(method.begin(), method.end(), method.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    paths[std::string(route.pattern)][method] = operation_of(route);
  }
  ordered_json parts = components();
  for (const auto& [name, schema] : service.schemas)
    parts["schemas"][name] = ordered_json::parse(schema);
  const ordered_json document = {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "zygo"},
        {"version", version},
        {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
      {"servers", {{{"url", "/"}, {"description", "the service that gives this document"}}}},
      {"security", {{{"token", ordered_json::array()}}, ordered_json::object()}},
      {"paths", paths},
      {"components", std::move(parts)}};
  return document.dump(1) + "\n";
}

}  // namespace service
