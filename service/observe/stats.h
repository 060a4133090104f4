#pragma once
// Stats: the data of the page and of `zygo top`, as one JSON object. Pure.

#include <string>
#include <vector>

#include "service/observe/history.h"
#include "service/observe/metrics.h"

namespace service {

struct Standing {
  std::string version, level, state;  // state: "warming up", "ready" or "ending"
  Gauges gauges;
  std::vector<History::Second> seconds;
};

// The text ends without a newline. It holds no program, no output and nothing that a test expects.
std::string stats_json(const Standing& standing, const Metrics& metrics, const History& history);

}  // namespace service
