#pragma once
// The words that the schemas of jobs and results are made of (JSON Schema 2020-12).

#include <nlohmann/json.hpp>
#include <utility>

namespace runtime::schema {

using nlohmann::ordered_json;

inline ordered_json text() { return {{"type", "string"}}; }

inline ordered_json list_of(ordered_json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

// Closed: nothing but the properties may be there.
inline ordered_json object_of(ordered_json properties,
                              ordered_json required = ordered_json::array()) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

}  // namespace runtime::schema
