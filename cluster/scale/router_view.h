#pragma once
// RouterView: what a router says of its jobs and pilots (GET /v1/pilots), as scaling reads it.

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace cluster {

struct RouterView {
  struct Pilot {
    std::string name;
    unsigned workers = 0, under_way = 0;
  };
  sys::Milliseconds wait{0};       // of a job that comes now
  std::vector<Pilot> pilots = {};  // those that take jobs
};

// An error names the field, and what was expected.
sys::Result<RouterView> parse_router_view(std::string_view json);

}  // namespace cluster
