#pragma once
// The launcher's command line: how the daemon tells it which template to build. Internal; not for
// people.

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/mounts/mounts.h"
#include "sandbox/policy.h"
#include "sandbox/sys/result.h"

namespace shim {

struct LaunchOptions {
  sandbox::Layers layers;  // --layers BITS
  uint32_t id_base =
      0;  // --id-base N: host id of the template's uid 0; 0: map the caller's own id only
  uint32_t id_count = 0;     // --id-count N
  bool plain = false;        // --plain: no namespaces and no image; the host's files as they are
  bool proc = false;         // --proc: cells are to have a /proc of their own
  bool core_cookie = false;  // --core-cookie: shares no core with processes of other templates
  std::string fixed;         // --fixed LIBRARY: preloaded, and addresses are not randomised
  uint32_t run_as = 0;       // --run-as N, with --plain: give up root's id for this one
  sandbox::ImagePlan image;  // --bind T S, --device T S, --symlink T S, --file T S, --directory T
  std::vector<std::string> cgroup_files;  // --cgroup PATH: write "0" here first
  std::vector<std::string> command;       // after --: the interpreter and its arguments
};

sys::Result<LaunchOptions> parse_launch_options(int argc, char** argv);

}  // namespace shim
