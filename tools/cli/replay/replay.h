#pragma once
// `zygo replay`: runs the jobs of results again, from their records, and tells the first difference
// of each.

#include <string>
#include <vector>

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"
#include "tools/cli/replay/recorded.h"
#include "tools/cli/replay/rerun.h"
#include "tools/cli/replay/surroundings.h"
#include "tools/cli/text.h"

namespace cli {

int replay_command(const CommandLine& line, const Parts& parts);

// The texts of the command. Pure; without a newline at the end.
std::string change_text(const Change& change);
std::string replayed_text(const Recorded& recorded, const Replayed& replayed, const Style& style);
struct ReplayCount {
  size_t same = 0, differ = 0, by_chance = 0, not_compared = 0;
  bool ok() const { return differ == 0 && not_compared == 0; }
};
ReplayCount count_of(const std::vector<Replayed>& all);
std::string replay_table(const ReplayCount& count, const Style& style);
std::string replay_json(const std::vector<Recorded>& recorded,
                        const std::vector<Replayed>& replayed, const std::vector<Change>& changes);

}  // namespace cli
