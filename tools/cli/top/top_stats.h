#pragma once
// The facts that `zygo top` knows of a service: the JSON of /v1/stats as plain values. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/sys/result.h"
#include "tools/cli/top/top_pilots.h"

namespace cli {

struct TopStats {
  std::string version, level, state;
  int64_t uptime_us = 0;
  int64_t queued = 0, queue_limit = 0, running = 0, workers = 0, cells = 0, templates = 0;
  int64_t connections = 0, resident_bytes = 0, forks = 0, job_cpu_us = 0;
  int64_t total = 0, ok = 0;
  std::vector<std::pair<std::string, int64_t>> labels;
  struct Stage {
    std::string name;
    int64_t p50 = 0, p90 = 0, p99 = 0;  // microseconds
  };
  std::vector<Stage> stages;
  struct Second {
    int64_t ended = 0, ok = 0, refused = 0, queued = 0, running = 0, p50 = 0, p99 = 0;
  };
  std::vector<Second> seconds;  // oldest first
  struct Failure {
    int64_t time_ms = 0;
    std::string label, id, client, evidence;
  };
  std::vector<Failure> failures;          // newest first
  std::optional<TopPilots> cluster = {};  // of a router
};

// A missing value is 0 or empty; a newer service may say more. All text may be a program's.
sys::Result<TopStats> read_top_stats(std::string_view json);

}  // namespace cli
