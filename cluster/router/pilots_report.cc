#include "cluster/router/pilots_report.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "sandbox/requirements.h"
#include "service/observe/metrics.h"

namespace cluster {

using nlohmann::ordered_json;

namespace {

constexpr const char* kReady = "ready";
constexpr const char* kDraining = "draining";
constexpr const char* kSilent = "silent";

const char* state_of(const Fleet::Member& member) {
  return member.lapsed ? kSilent : member.draining ? kDraining : kReady;
}

ordered_json described(const Fleet::Member& member, size_t jobs, size_t begun) {
  const auto age =
      std::chrono::duration_cast<std::chrono::seconds>(sys::monotonic_now() - member.since);
  return {{"name", member.hello.name},
          {"address", member.address},
          {"engine", member.hello.engine},
          {"zygo", member.hello.zygo},
          {"state", state_of(member)},
          {"level", sandbox::name_of(static_cast<sandbox::Level>(member.hello.level))},
          {"workers", member.hello.workers},
          {"templates", member.hello.templates},
          {"jobs", jobs},
          {"running", begun},
          {"under_way", member.status.under_way},
          {"mean_us", member.status.mean_us},
          {"ended", member.ended},
          {"joined_s", age.count()},
          {"until", member.hello.until == 0 ? ordered_json() : ordered_json(member.hello.until)}};
}

ordered_json described(const LostPilots::Loss& loss) {
  return {{"name", loss.name},
          {"address", loss.address},
          {"engine", loss.engine},
          {"time_ms", loss.time_ms},
          {"reason", name_of(loss.reason)},
          {"message", loss.message},
          {"jobs", loss.jobs},
          {"ended", loss.ended},
          {"here_s", loss.here.count()}};
}

// A field's type and what it means.
ordered_json text(const char* meaning) { return {{"type", "string"}, {"description", meaning}}; }
ordered_json whole(const char* meaning) {
  return {{"type", "integer"}, {"minimum", 0}, {"description", meaning}};
}
ordered_json one_of(ordered_json words, const char* meaning) {
  return {{"type", "string"}, {"enum", std::move(words)}, {"description", meaning}};
}
ordered_json list_of(ordered_json items, const char* meaning) {
  return {{"type", "array"}, {"items", std::move(items)}, {"description", meaning}};
}
ordered_json reference(const char* name) {
  return {{"$ref", std::string("#/components/schemas/") + name}};
}

// All fields are always there. A newer router may say more.
std::string object_of(const ordered_json& properties) {
  ordered_json names = ordered_json::array();
  for (const auto& [name, field] : properties.items()) names.push_back(name);
  return ordered_json{{"type", "object"}, {"properties", properties}, {"required", names}}.dump();
}

std::string schema_of_a_pilot() {
  ordered_json levels = ordered_json::array();
  for (const auto level : sandbox::kLevels) levels.push_back(sandbox::name_of(level));
  return object_of(
      {{"name", text("As the pilot calls itself; two may have the same.")},
       {"address", text("From where it has connected.")},
       {"engine", text("The batch engine that has started it; empty: none.")},
       {"zygo", text("Its version.")},
       {"state", one_of({kReady, kDraining, kSilent},
                        "A draining one takes nothing new. A silent one has said nothing for a "
                        "lease: its jobs are started elsewhere.")},
       {"level", one_of(std::move(levels), "The level of its isolation.")},
       {"workers", whole("Jobs that it runs at once.")},
       {"templates", list_of({{"type", "string"}}, "The names of its templates.")},
       {"jobs", whole("Jobs of this router that run or wait there.")},
       {"running", whole("Those of them that have begun.")},
       {"under_way", whole("Jobs of all of its routers that run or wait there, as it last said.")},
       {"mean_us", whole("Microseconds of a worker for one of its last jobs; 0: none has ended.")},
       {"ended", whole("Verdicts that this router has taken from it.")},
       {"joined_s", whole("Seconds since it joined.")},
       {"until",
        {{"type", {"integer", "null"}},
         {"description", "The end of its slot, in seconds since 1970; null: none is known."}}}});
}

std::string schema_of_a_loss() {
  ordered_json reasons = ordered_json::array();
  for (const auto reason : LostPilots::kReasons) reasons.push_back(name_of(reason));
  return object_of(
      {{"name", text("The pilot's.")},
       {"address", text("From where it had connected.")},
       {"engine", text("The batch engine that had started it; empty: none.")},
       {"time_ms", whole("When it was lost, in milliseconds since 1970.")},
       {"reason", one_of(std::move(reasons),
                         "Its connection has ended; it has said nothing for a lease, and may come "
                         "back; the router has sent it away.")},
       {"message", text("The same in words.")},
       {"jobs", whole("Jobs of this router that it had.")},
       {"ended", whole("Verdicts that this router had taken from it.")},
       {"here_s", whole("Seconds that it had been there.")}});
}

std::string schema_of_all() {
  return object_of(
      {{"router", text("The router's name.")},
       {"lease_ms", whole("Silence after which a pilot counts as lost.")},
       {"workers", whole("Of all pilots that are ready.")},
       {"estimated_wait_ms",
        whole(
            "Until a job that comes now would start, as it is estimated; zygo scale goes by it.")},
       {"lost", whole("Times that a pilot was lost with jobs of this router.")},
       {"restarts", whole("Jobs that were started again because their pilot was lost.")},
       {"doubles", whole("Verdicts that were not the first of their job, and were dropped.")},
       {"pilots", list_of(reference("Pilot"), "Those that are connected.")},
       {"recently_lost",
        list_of(reference("LostPilot"),
                "The last 50 that were lost, with jobs or without, newest first. One that has "
                "drained first was not lost.")}});
}

}  // namespace

std::string pilots_json(const Fleet& fleet, const LostPilots& lost, const std::string& router,
                        sys::Milliseconds lease, sys::Milliseconds wait) {
  const Assignments& assignments = fleet.assignments();
  ordered_json pilots = ordered_json::array();
  for (const auto& [pilot, member] : fleet.members())
    pilots.push_back(described(member, assignments.size_of(pilot), assignments.begun_of(pilot)));
  ordered_json losses = ordered_json::array();
  for (const LostPilots::Loss& each : lost.all()) losses.push_back(described(each));
  const ordered_json all = {{"router", router},
                            {"lease_ms", lease.count()},
                            {"workers", fleet.workers()},
                            {"estimated_wait_ms", wait.count()},
                            {"lost", fleet.lost_pilots()},
                            {"restarts", assignments.restarts()},
                            {"doubles", assignments.doubles()},
                            {"pilots", std::move(pilots)},
                            {"recently_lost", std::move(losses)}};
  // Names are UTF-8 (objection_to); nothing that a pilot says may end the router.
  using Handler = ordered_json::error_handler_t;
  return all.dump(2, ' ', false, Handler::replace) + "\n";
}

std::string pilots_metrics(const Fleet& fleet, const LostPilots& lost) {
  std::map<std::string_view, size_t> states{{kReady, 0}, {kDraining, 0}, {kSilent, 0}};
  for (const auto& [pilot, member] : fleet.members()) ++states[state_of(member)];
  std::string out;
  service::describe_metric(out, "zygo_pilots", "gauge", "Pilots that are connected, by state.");
  for (const auto& [state, count] : states)
    out += fmt::format("zygo_pilots{{state=\"{}\"}} {}\n", state, count);
  service::describe_metric(out, "zygo_pilots_lost_total", "counter",
                           "Pilots that were lost, with jobs or without, by reason.");
  for (const auto reason : LostPilots::kReasons) {
    out += fmt::format("zygo_pilots_lost_total{{reason=\"{}\"}} {}\n", name_of(reason),
                       lost.count(reason));
  }
  service::describe_metric(out, "zygo_pilot_restarts_total", "counter",
                           "Jobs that were started again because their pilot was lost.");
  out += fmt::format("zygo_pilot_restarts_total {}\n", fleet.assignments().restarts());
  service::describe_metric(out, "zygo_pilot_doubles_total", "counter",
                           "Verdicts that were not the first of their job, and were dropped.");
  out += fmt::format("zygo_pilot_doubles_total {}\n", fleet.assignments().doubles());
  return out;
}

std::vector<std::pair<std::string, std::string>> schemas_of_pilots() {
  return {{std::string(kPilots), schema_of_all()},
          {"Pilot", schema_of_a_pilot()},
          {"LostPilot", schema_of_a_loss()}};
}

}  // namespace cluster
