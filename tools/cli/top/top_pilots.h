#pragma once
// The facts that `zygo top` knows of a router's pilots: the JSON of /v1/pilots as plain values.
// Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"

namespace cli {

struct TopPilots {
  enum class State : uint8_t { kLost, kDraining, kHere };  // those that want attention first
  struct Pilot {
    std::string name, level;
    State state = State::kHere;
    int64_t workers = 0;
    int64_t running = 0, waiting = 0;  // jobs of this router
    int64_t ended = 0, mean_us = 0;
  };
  std::vector<Pilot> pilots;  // by state, and then in the router's order
  struct Loss {
    int64_t time_ms = 0, jobs = 0;
    std::string name, message;
  };
  std::vector<Loss> losses;  // newest first
  int64_t restarts = 0;      // of jobs, because their pilot was lost

  size_t count(State state) const;
};

// A missing value is 0 or empty; a newer router may say more. All text may be a stranger's.
sys::Result<TopPilots> read_top_pilots(std::string_view json);

// Both answers as one line of JSON in ASCII: the statistics, and `pilots` under "cluster".
sys::Result<std::string> json_with_pilots(std::string_view stats, std::string_view pilots);

}  // namespace cli
