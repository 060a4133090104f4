// Writes what `zygo replay` shows: the changes of the place, a line for each result, a table; or
// JSON.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/cli/replay/replay.h"

namespace cli {
namespace {

using nlohmann::ordered_json;
using Chance = Replayed::Chance;

constexpr size_t kWidestId = 40, kWidestText = 160;

std::string plain(std::string_view text, size_t widest) {
  return clip(escape_controls(text, Lines::kEscape), widest);
}

std::string place_text(const Difference& difference) {
  std::string text = difference.axis;
  if (!difference.where.empty()) text += " " + plain(difference.where, kWidestText);
  if (difference.place) {
    text += fmt::format(", byte {}, line {}, column {}", difference.place->byte,
                        difference.place->line, difference.place->column);
  }
  return text;
}

std::string chance_text(const Recorded& recorded, const Replayed& replayed) {
  if (recorded.fixed) return "the job asked for determinism.mode fixed";
  return replayed.chance == Chance::kYes
             ? "chance explains it: runs here differ from each other, too"
             : "runs here agree with each other";
}

ordered_json difference_json(const Difference& difference) {
  ordered_json made = {{"axis", difference.axis}};
  if (!difference.where.empty()) made["where"] = difference.where;
  if (difference.place) {
    made["byte"] = difference.place->byte;
    made["line"] = difference.place->line;
    made["column"] = difference.place->column;
  }
  made["recorded"] = difference.recorded;
  made["here"] = difference.here;
  return made;
}

ordered_json job_json(const Recorded& recorded, const Replayed& replayed) {
  ordered_json made = {{"id", recorded.result.id},
                       {"place", recorded.place},
                       {"label", recorded.result.verdict.label()}};
  if (!replayed.is_compared()) {
    made["same"] = nullptr;
    made["not_compared"] = recorded.obstacle.empty() ? replayed.obstacle : recorded.obstacle;
    return made;
  }
  made["same"] = replayed.is_same();
  made["compared"] =
      compared_of(recorded.result.verdict) == Compared::kLabel ? "label" : "everything";
  made["fixed"] = recorded.fixed;
  made["runs"] = replayed.runs;
  made["differ"] = replayed.differ;
  if (replayed.difference) made["difference"] = difference_json(*replayed.difference);
  if (replayed.chance != Chance::kUnknown) made["chance"] = replayed.chance == Chance::kYes;
  return made;
}

}  // namespace

std::string change_text(const Change& change) {
  const std::string count = change.results == 1 ? "" : fmt::format(" ({} results)", change.results);
  return fmt::format("recorded under {} {}, here {}{}", plain(change.what, kWidestText),
                     plain(change.recorded, kWidestText), plain(change.here, kWidestText), count);
}

std::string replayed_text(const Recorded& recorded, const Replayed& replayed, const Style& style) {
  const std::string id = plain(recorded.result.id, kWidestId);
  if (!replayed.is_compared()) {
    return fmt::format(
        "{}: {}: {}", id, style.paint(Colour::kYellow, "not compared"),
        plain(recorded.obstacle.empty() ? replayed.obstacle : recorded.obstacle, kWidestText));
  }
  if (replayed.is_same()) {
    const bool label_only = compared_of(recorded.result.verdict) == Compared::kLabel;
    return fmt::format("{}: {}{}", id, style.paint(Colour::kGreen, "same"),
                       label_only ? fmt::format(" label, {}, by a limit: nothing else is compared",
                                                plain(replayed.label, kWidestId))
                                  : "");
  }
  const Difference& difference = *replayed.difference;
  const std::string some =
      replayed.runs == 1 ? "" : fmt::format(" in {} of {} runs", replayed.differ, replayed.runs);
  return fmt::format("{}: {}{}: {}\n  recorded: {}\n  here:     {}\n  {}", id,
                     style.paint(Colour::kRed, "differs"), some, place_text(difference),
                     plain(difference.recorded, kWidestText), plain(difference.here, kWidestText),
                     chance_text(recorded, replayed));
}

ReplayCount count_of(const std::vector<Replayed>& all) {
  ReplayCount count;
  for (const Replayed& each : all) {
    ++(!each.is_compared() ? count.not_compared : each.differ > 0 ? count.differ : count.same);
    if (each.differ > 0 && each.chance == Chance::kYes) ++count.by_chance;
  }
  return count;
}

std::string replay_table(const ReplayCount& count, const Style& style) {
  std::string text = fmt::format(
      "{:>12}  {}\n{:>12}  {}", "same", style.paint(Colour::kGreen, std::to_string(count.same)),
      "differ",
      style.paint(count.differ > 0 ? Colour::kRed : Colour::kNone, std::to_string(count.differ)));
  if (count.by_chance > 0) text += fmt::format(", {} of them by chance", count.by_chance);
  if (count.not_compared > 0)
    text += fmt::format("\n{:>12}  {}", "not compared", count.not_compared);
  return text;
}

std::string replay_json(const std::vector<Recorded>& recorded,
                        const std::vector<Replayed>& replayed, const std::vector<Change>& changes) {
  ordered_json places = ordered_json::array(), jobs = ordered_json::array();
  for (const Change& change : changes) {
    places.push_back({{"what", change.what},
                      {"recorded", change.recorded},
                      {"here", change.here},
                      {"results", change.results}});
  }
  for (size_t i = 0; i < recorded.size(); ++i) jobs.push_back(job_json(recorded[i], replayed[i]));
  const ReplayCount count = count_of(replayed);
  const ordered_json all = {{"ok", count.ok()},
                            {"same", count.same},
                            {"differ", count.differ},
                            {"by_chance", count.by_chance},
                            {"not_compared", count.not_compared},
                            {"changes", std::move(places)},
                            {"jobs", std::move(jobs)}};
  return all.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

}  // namespace cli
