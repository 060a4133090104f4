#pragma once
// Maps a refusal to its cure: the command or the setting that helps, by the place where zygo runs.
// Pure; probe.cc collects the hints.

#include <optional>
#include <string>
#include <string_view>

#include "sandbox/probe/place.h"

namespace sandbox {

struct HostHints {
  Location at = {};
  std::optional<long> unprivileged_userns_clone =
      {};  // Debian's and Arch's switch; absent elsewhere
  std::optional<long> apparmor_restricts_userns = {};  // Ubuntu 23.10 and later
  std::optional<long> max_user_namespaces = {};
};

// `name` as in LayerReport; `error` is the errno of the refusal, or 0. Never empty.
std::string cure_for(std::string_view name, int error, const HostHints& hints);

}  // namespace sandbox
