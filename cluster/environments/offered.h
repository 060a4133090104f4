#pragma once
// Offered: the packed environments (zygo image pack) that a router has for its pilots, and what it
// says of them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace cluster {

struct EnvironmentName {
  std::string name;
  std::string digest;  // of the file: "sha256:" and 64 digits
  uint64_t bytes = 0;
  bool operator==(const EnvironmentName&) const = default;
};

struct Offered {
  EnvironmentName about;
  sys::OwnedFd file;
};

// Of a name 1 to 64 letters, digits, '.', '_' and '-'; "NAME=FILE". Reads the file once, for its
// digest; a file that is replaced later (not changed) goes on as it was.
sys::Result<Offered> offer(const std::string& text);

// {"environments": [{"name", "digest", "bytes"}]}
std::string environments_json(const std::vector<Offered>& offered);
// The same, as another router says it.
sys::Result<std::vector<EnvironmentName>> parse_environments(std::string_view json);

}  // namespace cluster
