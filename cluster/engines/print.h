#pragma once
// What `zygo pilot --print ENGINE` prints: a submit file, a manifest or a script that starts pilots
// by an engine that people have. Pure. Everything printed names files with tokens, never a token.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cluster/engines/slot.h"
#include "sandbox/sys/units.h"

namespace cluster {

struct NamedFile {
  std::string option, path;
};

struct PrintOptions {
  std::string program = "zygo";         // its path on the nodes; a name is looked up in PATH
  std::vector<std::string> joins = {};  // the URLs of routers
  std::string token_file = {};          // HTCondor sends it along; elsewhere nodes have it
  std::string ca_file = {}, cert_file = {}, key_file = {};  // the same; empty: not used
  unsigned pilots = 1;
  unsigned most_pilots = 0;  // Kubernetes scales up to these; 0: four times `pilots`
  unsigned cpus = 1;         // of each pilot
  sys::Bytes memory = sys::mebibytes(4096);
  std::optional<std::chrono::seconds> time = {};  // after which Slurm and HTCondor end a slot
  std::chrono::seconds drain_before{60};          // how long before SIGKILL a pilot gets SIGTERM
  std::optional<std::chrono::milliseconds> grace = {};  // of running jobs; none: by drain_before
  std::vector<std::string> arguments = {};              // more of them for `zygo pilot`
  std::vector<NamedFile> files = {};                    // the same; they go where the token goes
  std::vector<std::string> hosts = {};                  // ssh: where to start them
  std::string image = "zygo";                           // Kubernetes
  std::string space = "zygo";                           // the namespace there
};

// Why nothing that works can be printed of these options; empty: it can.
std::string objection_to_print(Engine engine, const PrintOptions& options);

// The text of one file. Empty for Engine::kNone.
std::string print_engine(Engine engine, const PrintOptions& options);

}  // namespace cluster
