#include "tools/cli/top/top_pilots.h"

#include <algorithm>

#include "tools/cli/top/foreign_json.h"

namespace cli {
namespace {

using foreign::json;
using foreign::number;
using foreign::text;
using State = TopPilots::State;

constexpr size_t kMostPilots = 20'000;
constexpr const char* kWhat = "what it tells of its pilots";

// A silent one counts as lost: its jobs are started elsewhere.
State state_of(const std::string& word) {
  if (word == "silent") return State::kLost;
  return word == "draining" ? State::kDraining : State::kHere;
}

TopPilots::Pilot pilot_of(const json& row) {
  TopPilots::Pilot pilot;
  pilot.name = text(row, "name");
  pilot.level = text(row, "level");
  pilot.state = state_of(text(row, "state"));
  pilot.workers = number(row, "workers");
  const int64_t jobs = number(row, "jobs");
  pilot.running = std::min(number(row, "running"), jobs);
  pilot.waiting = jobs - pilot.running;
  pilot.ended = number(row, "ended");
  pilot.mean_us = number(row, "mean_us");
  return pilot;
}

}  // namespace

size_t TopPilots::count(State state) const {
  return static_cast<size_t>(
      std::ranges::count_if(pilots, [state](const Pilot& each) { return each.state == state; }));
}

sys::Result<TopPilots> read_top_pilots(std::string_view bytes) {
  const json all = TRY(foreign::read(bytes, kWhat));
  TopPilots into;
  into.restarts = number(all, "restarts");
  foreign::each(
      foreign::at(all, "pilots"), [&](const json& row) { into.pilots.push_back(pilot_of(row)); },
      kMostPilots);
  std::ranges::stable_sort(into.pilots, {}, &TopPilots::Pilot::state);
  foreign::each(foreign::at(all, "recently_lost"), [&](const json& row) {
    into.losses.push_back(
        {number(row, "time_ms"), number(row, "jobs"), text(row, "name"), text(row, "message")});
  });
  return into;
}

sys::Result<std::string> json_with_pilots(std::string_view stats, std::string_view pilots) {
  json all = TRY(foreign::read(stats, "its statistics"));
  all["cluster"] = TRY(foreign::read(pilots, kWhat));
  return all.dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace cli
