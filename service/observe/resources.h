#pragma once
// Resources: the host's resources that the service's own process uses, for metrics. Unknown figures
// are 0.

#include <cstdint>

namespace service {

struct Resources {
  uint64_t resident_bytes = 0;
  uint64_t open_descriptors = 0;
  int64_t cpu_us = 0;     // of the process and its threads
  int64_t uptime_us = 0;  // of the process
  int64_t started_s = 0;  // by the clock of the host, since 1970
  static Resources now();
};

}  // namespace service
