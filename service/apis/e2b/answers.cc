#include "service/apis/e2b/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <compare>
#include <cstdio>
#include <optional>

#include "sandbox/sys/utc.h"
#include "service/apis/e2b/request.h"
#include "service/apis/results.h"

namespace service::e2b {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

// What this one can do: no names of users are asked for, and files may come as plain bytes.
constexpr std::string_view kEnvdVersion = "0.5.7";
constexpr size_t kMostListed = 100;

std::string_view state_of(const Sandbox& sandbox) { return sandbox.paused ? "paused" : "running"; }

// "a=b&c=d", percent-encoded, as the value of one parameter.
std::vector<std::pair<std::string, std::string>> pairs_in(const std::string& text) {
  Request query;
  if (!read_target("/?" + text, query)) return {};
  // Names and values are encoded twice.
  for (auto& [name, value] : query.query) {
    Request inner;
    if (!read_target("/?" + name + "=" + value, inner) || inner.query.size() != 1) continue;
    std::tie(name, value) = inner.query.front();
  }
  return query.query;
}

bool is_asked_for(const Sandbox& sandbox, const Request& request) {
  if (const std::string* states = request.query_value("state");
      states && !states->empty() && states->find(state_of(sandbox)) == states->npos)
    return false;
  if (const std::string* name = request.query_value("template");
      name && !name->empty() && *name != sandbox.template_id)
    return false;
  const std::string* metadata = request.query_value("metadata");
  return !metadata || std::ranges::all_of(pairs_in(*metadata), [&](const auto& pair) {
    const auto found = sandbox.metadata.find(pair.first);
    return found != sandbox.metadata.end() && *found == pair.second;
  });
}

// "2026-11-27T17:05:07.123Z", or with +01:00 in the place of the Z.
std::optional<sys::Milliseconds> time_in(const std::string& text) {
  using std::chrono::hours, std::chrono::minutes, std::chrono::seconds;
  int year = 0, at = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2u:%2u:%2u%n", &year, &month, &day, &hour, &minute,
                  &second, &at) != 6)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const std::chrono::sys_days midnight(date);
  sys::Milliseconds time =
      midnight.time_since_epoch() + hours(hour) + minutes(minute) + seconds(second);
  std::string_view rest = std::string_view(text).substr(static_cast<size_t>(at));
  if (rest.starts_with('.')) {
    const size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    const std::string digits = std::string(rest.substr(1, std::min<size_t>(end - 1, 3))) + "000";
    time += sys::Milliseconds(std::stoi(digits.substr(0, 3)));
    rest.remove_prefix(end);
  }
  if (rest == "Z") return time;
  char sign = 0, more = 0;
  const std::string zone(rest);
  if (std::sscanf(zone.c_str(), "%c%2u:%2u%c", &sign, &hour, &minute, &more) != 3)
    return std::nullopt;
  const sys::Milliseconds ahead = hours(hour) + minutes(minute);
  if (sign == '-') return time + ahead;
  // An unescaped plus sign is a blank here.
  return sign == '+' || sign == ' ' ? std::optional(time - ahead) : std::nullopt;
}

// Where a sandbox is in a list.
struct PlaceInList {
  sys::Milliseconds began{};
  std::string id;
  auto operator<=>(const PlaceInList&) const = default;
};

PlaceInList place_of(const Sandbox& sandbox) { return {sandbox.began, sandbox.id}; }

std::string token_of(const Sandbox& sandbox) {
  return fmt::format("{}_{}", sandbox.began.count(), sandbox.id);
}

std::optional<PlaceInList> place_in(const std::string& token) {
  int64_t began = 0;
  const char* const end = token.data() + token.size();
  const auto read = std::from_chars(token.data(), end, began);
  if (read.ec != std::errc() || read.ptr == end || *read.ptr != '_') return std::nullopt;
  return PlaceInList{sys::Milliseconds(began), std::string(read.ptr + 1, end)};
}

// What a list is asked for, beside what is_asked_for() looks at.
struct Listing {
  std::optional<PlaceInList> from;
  sys::Milliseconds began_at_least{};
  bool oldest_first = false;
};

std::optional<Listing> listing_in(const Request& request) {
  const auto given = [&request](std::string_view name) {
    const std::string* value = request.query_value(name);
    return value ? *value : std::string();
  };
  Listing wish;
  const std::string token = given("nextToken"), after = given("startedAfter");
  const std::string order = given("order");
  if (!token.empty() && !(wish.from = place_in(token))) return std::nullopt;
  if (!after.empty()) {
    const auto time = time_in(after);
    if (!time) return std::nullopt;
    wish.began_at_least = *time;
  }
  wish.oldest_first = order == "asc";
  if (!order.empty() && order != "asc" && order != "desc") return std::nullopt;
  return wish;
}

size_t limit_in(const Request& request) {
  const std::string* given = request.query_value("limit");
  size_t limit = kMostListed;
  if (given) std::from_chars(given->data(), given->data() + given->size(), limit);
  return std::clamp<size_t>(limit, 1, kMostListed);
}

}  // namespace

ordered_json access_to(const Sandbox& sandbox) {
  return {{"templateID", sandbox.template_id},
          {"sandboxID", sandbox.id},
          {"clientID", "zygo"},
          {"envdVersion", kEnvdVersion},
          {"envdAccessToken", sandbox.secret},
          {"trafficAccessToken", sandbox.secret},
          {"domain", nullptr}};
}

ordered_json about(const Sandbox& sandbox, const runtime::Limits& limits) {
  return {{"templateID", sandbox.template_id},
          {"sandboxID", sandbox.id},
          {"clientID", "zygo"},
          {"envdVersion", kEnvdVersion},
          {"startedAt", sys::utc_text(sandbox.began)},
          {"endAt", sys::utc_text(sandbox.ends)},
          {"state", state_of(sandbox)},
          {"cpuCount", 1},
          {"memoryMB", limits.memory.count >> 20},
          {"diskSizeMB", limits.disk.count >> 20},
          {"metadata", sandbox.metadata},
          {"allowInternetAccess", false},
          {"lifecycle", {{"onTimeout", sandbox.pauses ? "pause" : "kill"}, {"autoResume", false}}}};
}

ordered_json about(const Context& context) {
  return {{"id", context.id}, {"language", "python"}, {"cwd", context.cwd}};
}

ordered_json about(const Snapshot& snapshot) {
  ordered_json names = ordered_json::array();
  if (!snapshot.name.empty()) names.push_back(snapshot.name);
  return {{"snapshotID", snapshot.id}, {"names", std::move(names)}};
}

Response list_response(std::vector<const Sandbox*> all, const Request& request,
                       const runtime::Limits& limits) {
  const auto wish = listing_in(request);
  if (!wish)
    return refusal(400, "nextToken, startedAfter or order: not as a list of sandboxes has them");
  if (wish->oldest_first) std::ranges::reverse(all);
  const size_t most = limit_in(request);
  ordered_json page = ordered_json::array();
  Response response;
  for (const Sandbox* each : all) {
    // One that has gone meanwhile has left its place.
    const bool is_before = wish->from && (wish->oldest_first ? place_of(*each) < *wish->from
                                                             : *wish->from < place_of(*each));
    if (is_before || each->began < wish->began_at_least || !is_asked_for(*each, request)) continue;
    if (page.size() == most) {
      response.headers.emplace_back("X-Next-Token", token_of(*each));
      break;
    }
    page.push_back(about(*each, limits));
  }
  response.body = line_of(page);
  return response;
}

}  // namespace service::e2b
