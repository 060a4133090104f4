#pragma once
// A foreign request as a tree. What lies deeper than any request means is left out, so that nobody
// who walks the tree can be led too deep.

#include <nlohmann/json.hpp>
#include <string_view>

namespace service {

// Discarded if the bytes are not JSON.
inline nlohmann::json parsed(std::string_view body, int deepest = 4) {
  const auto keep = [deepest](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    return depth <= deepest;
  };
  return nlohmann::json::parse(body, keep, false);
}

}  // namespace service
