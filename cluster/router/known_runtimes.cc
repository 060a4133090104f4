#include "cluster/router/known_runtimes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "cluster/wire/messages.h"

namespace cluster {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr size_t kMostRuntimes = 256, kMostItems = 64;
constexpr const char* kTexts[] = {"name",    "title",   "how",        "profile", "version",
                                  "missing", "package", "variant_of", "language"};
constexpr const char* kLists[] = {"aliases", "extensions"};

bool is_text(const json& value) {
  return value.is_string() && is_name(value.get_ref<const std::string&>());
}

// The known fields of one; none: it is no runtime.
std::optional<ordered_json> known(const json& said) {
  if (!said.is_object() || !said.contains("name") || !is_text(said["name"])) return std::nullopt;
  ordered_json kept;
  for (const char* field : kTexts) {
    if (said.contains(field) && is_text(said[field])) kept[field] = said[field].get<std::string>();
  }
  for (const char* field : kLists) {
    if (!said.contains(field) || !said[field].is_array()) continue;
    kept[field] = ordered_json::array();
    for (const json& item : said[field]) {
      if (is_text(item) && kept[field].size() < kMostItems)
        kept[field].push_back(item.get<std::string>());
    }
  }
  kept["available"] = said.contains("available") && said["available"] == true;
  return kept;
}

}  // namespace

bool KnownRuntimes::add(Pilot pilot, std::string_view text) {
  if (text.size() > kLongest) return false;
  const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array() || list.size() > kMostRuntimes) return false;
  ordered_json kept = ordered_json::array();
  for (const nlohmann::json& each : list) {
    if (auto runtime = known(each)) kept.push_back(*std::move(runtime));
  }
  std::lock_guard lock(mutex_);
  forget(pilot);
  ++lists_[of_pilot_[pilot] = kept.dump()];
  return true;
}

void KnownRuntimes::forget(Pilot pilot) {
  const auto said = of_pilot_.extract(pilot);
  if (said && --lists_.at(said.mapped()) == 0) lists_.erase(said.mapped());
}

void KnownRuntimes::remove(Pilot pilot) {
  std::lock_guard lock(mutex_);
  forget(pilot);
}

std::string KnownRuntimes::json() const {
  std::lock_guard lock(mutex_);
  if (lists_.empty()) return {};
  std::map<std::string, ordered_json> by_name;
  for (const auto& [text, pilots] : lists_) {
    for (ordered_json& each : ordered_json::parse(text)) {
      ordered_json& best = by_name[each["name"].get<std::string>()];
      if (best.is_null() || each["available"] == true) best = std::move(each);
    }
  }
  ordered_json all = ordered_json::array();
  for (auto& [name, runtime] : by_name) all.push_back(std::move(runtime));
  return all.dump(2) + "\n";
}

}  // namespace cluster
