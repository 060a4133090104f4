#include "service/jupyter/answers.h"

#include <algorithm>
#include <array>
#include <string>

#include "service/jupyter/message.h"

namespace service::jupyter {

using nlohmann::json;

namespace {

json object_in(const json& said, const char* name) {
  const auto found = said.find(name);
  return found != said.end() && found->is_object() ? *found : json::object();
}

json texts_in(const json& said, const char* name) {
  json texts = json::array();
  const auto found = said.find(name);
  if (found == said.end() || !found->is_array()) return texts;
  std::copy_if(found->begin(), found->end(), std::back_inserter(texts),
               [](const json& each) { return each.is_string(); });
  return texts;
}

// A value by MIME type: text, and for types of JSON any value.
json data_in(const json& said) {
  constexpr size_t kMostTypes = 100;
  json data = json::object();
  const json values = object_in(said, "data");
  for (const auto& [type, value] : values.items()) {
    if (data.size() >= kMostTypes) break;
    const bool is_json = type == "application/json" || type.ends_with("+json");
    if (value.is_string() || is_json) data[type] = value;
  }
  return data;
}

json bundle_of(const json& said) {
  return {{"data", data_in(said)}, {"metadata", object_in(said, "metadata")}};
}

json error_in(const json& said) {
  return {{"status", "error"},
          {"ename", text_of(said, "ename")},
          {"evalue", text_of(said, "evalue")},
          {"traceback", texts_in(said, "traceback")}};
}

bool is_fine(const json& said) { return text_of(said, "status") == "ok"; }

json expressions_in(const json& said) {
  json all = json::object();
  const json values = object_in(said, "user_expressions");
  for (const auto& [name, value] : values.items()) {
    if (!value.is_object()) continue;
    json each = is_fine(value) ? bundle_of(value) : error_in(value);
    if (is_fine(value)) each["status"] = "ok";
    all[name] = std::move(each);
  }
  return all;
}

// The only ones that cells have: texts for a pager.
json pages_in(const json& said) {
  json pages = json::array();
  const auto found = said.find("payload");
  if (found == said.end() || !found->is_array()) return pages;
  for (const json& each : *found) {
    if (!each.is_object() || text_of(each, "source") != "page") continue;
    pages.push_back(
        {{"source", "page"}, {"data", data_in(each)}, {"start", number_of(each, "start", 0)}});
  }
  return pages;
}

}  // namespace

std::optional<json> output_of(std::string_view type, const json& said, int64_t count) {
  if (type == "clear_output") return json{{"wait", flag_of(said, "wait", false)}};
  json content = bundle_of(said);
  if (type == "execute_result") {
    content["execution_count"] = count;
    return content;
  }
  if (type != "display_data" && type != "update_display_data") return std::nullopt;
  const std::string display = text_of(object_in(said, "transient"), "display_id");
  content["transient"] = display.empty() ? json::object() : json{{"display_id", display}};
  return content;
}

json ending_of(const json& said) {
  if (!is_fine(said)) return error_in(said);
  return {
      {"status", "ok"}, {"payload", pages_in(said)}, {"user_expressions", expressions_in(said)}};
}

json answer_of(std::string_view function, const json& said) {
  if (function == "is_complete") {
    constexpr std::array<std::string_view, 3> kKnown{"complete", "incomplete", "invalid"};
    const std::string status = text_of(said, "status");
    const bool is_known = std::ranges::find(kKnown, status) != kKnown.end();
    if (status == "incomplete") return {{"status", status}, {"indent", text_of(said, "indent")}};
    return {{"status", is_known ? status : "unknown"}};
  }
  if (!is_fine(said)) return error_in(said);
  if (function == "complete") {
    return {{"status", "ok"},
            {"matches", texts_in(said, "matches")},
            {"cursor_start", number_of(said, "cursor_start", 0)},
            {"cursor_end", number_of(said, "cursor_end", 0)},
            {"metadata", object_in(said, "metadata")}};
  }
  json answer = bundle_of(said);
  answer.update({{"status", "ok"}, {"found", flag_of(said, "found", false)}});
  return answer;
}

}  // namespace service::jupyter
