#include "cluster/scale/router_view.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace cluster {

using nlohmann::json;
using sys::Error;
using sys::Result;

namespace {

std::optional<uint64_t> whole(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<uint64_t>();
}

constexpr uint64_t kMostWorkers = 1'000'000;

}  // namespace

Result<RouterView> parse_router_view(std::string_view text) {
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object()) return Error::because("expected a JSON object");
  RouterView view;
  const auto wait = whole(all, "estimated_wait_ms");
  if (!wait || *wait > uint64_t{1} << 40)
    return Error::because(
        "estimated_wait_ms: expected a whole number, of a router of this version");
  view.wait = sys::Milliseconds(*wait);
  const auto pilots = all.find("pilots");
  if (pilots == all.end() || !pilots->is_array())
    return Error::because("pilots: expected an array");
  for (const json& each : *pilots) {
    const auto name = each.is_object() ? each.find("name") : each.end();
    const auto state = each.is_object() ? each.find("state") : each.end();
    if (name == each.end() || !name->is_string() || state == each.end() || !state->is_string())
      return Error::because("pilots: expected objects with the strings name and state");
    const auto workers = whole(each, "workers"), under_way = whole(each, "under_way");
    if (!workers || !under_way || *workers > kMostWorkers || *under_way > uint64_t{1} << 31)
      return Error::because("pilots: workers and under_way: expected whole numbers");
    if (state->get_ref<const std::string&>() != "ready") continue;
    view.pilots.push_back({name->get<std::string>(), static_cast<unsigned>(*workers),
                           static_cast<unsigned>(*under_way)});
  }
  return view;
}

}  // namespace cluster
