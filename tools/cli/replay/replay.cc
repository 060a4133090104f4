#include "tools/cli/replay/replay.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace cli {
namespace {

using Known = std::vector<runtime::TemplateSpec>;

// The places of all, held against this one; or the first job that cannot run here.
std::variant<std::vector<Change>, Refusal> changes_of(const std::vector<Recorded>& recorded,
                                                      runtime::Engine& engine) {
  std::vector<Change> changes;
  for (const Recorded& each : recorded) {
    if (!each.obstacle.empty()) continue;
    const auto here = engine.origin_of(each.job.template_name);
    if (!here) {
      const std::string why = unknown_template(each.result, each.job.template_name);
      return Refusal{fmt::format("{}: {}", each.place, why), kExitUsage, Lines::kEscape};
    }
    add_changes(each.result, *here, engine.standing(), changes);
  }
  return changes;
}

void show(const std::vector<Recorded>& recorded, const std::vector<Replayed>& replayed,
          const CommonOptions& common) {
  const Style style = style_for(STDOUT_FILENO, common.no_color);
  for (size_t i = 0; i < recorded.size(); ++i) {
    if (common.quiet && replayed[i].is_same()) continue;
    say(replayed_text(recorded[i], replayed[i], style));
  }
  if (recorded.size() > 1 && !common.quiet) say(replay_table(count_of(replayed), style));
}

}  // namespace

int replay_command(const CommandLine& line, const Parts& parts) {
  auto options =
      engine_options(line.common, parts.builtin_templates, line.replay.workers, parts.stop);
  if (auto* refusal = std::get_if<Refusal>(&options)) return refuse("replay", *refusal);
  sys::Result<std::vector<Recorded>> recorded = read_recorded(line.replay.results);
  if (!recorded) return refuse("replay", {recorded.error().text(), kExitUsage, Lines::kEscape});
  auto engine = parts.start_engine(std::get<runtime::EngineOptions>(std::move(options)));
  if (!engine) return refuse("replay", {engine.error().text(), kExitSandbox});
  auto found = changes_of(*recorded, **engine);
  if (auto* refusal = std::get_if<Refusal>(&found)) return refuse("replay", *refusal);
  const auto& changes = std::get<std::vector<Change>>(found);
  if (!line.common.json) {
    for (const Change& change : changes) say(change_text(change));
  }
  if (line.replay.strict && !changes.empty()) {
    return refuse("replay",
                  {fmt::format("--strict: recorded under {} {}; nothing was run",
                               changes.front().recorded == kUnknown ? "an unknown" : "another",
                               changes.front().what),
                   kExitUsage, Lines::kEscape});
  }

  Rerun rerun(**engine, *recorded, parts.stop == nullptr ? -1 : parts.stop->fd());
  if (!rerun.run(line.replay.runs)) {
    write_error_line("zygo replay: interrupted");
    return kExitInterrupted;
  }
  if (line.common.json) {
    say(replay_json(*recorded, rerun.replayed(), changes));
  } else {
    show(*recorded, rerun.replayed(), line.common);
  }
  return count_of(rerun.replayed()).ok() ? kExitOk : kExitSomeFailed;
}

}  // namespace cli
