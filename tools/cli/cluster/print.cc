#include "tools/cli/cluster/print.h"

#include <chrono>
#include <filesystem>
#include <system_error>

#include "tools/cli/refusal.h"

namespace cli {

// Nodes find this very program where this one is.
cluster::PrintOptions print_options_of(const PilotOptions& from) {
  using std::chrono::duration_cast;
  using std::chrono::seconds;
  cluster::PrintOptions options;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) options.program = self;
  options.joins = from.join;
  options.token_file = from.token_file;
  options.ca_file = from.ca_file;
  options.cert_file = from.cert_file;
  options.key_file = from.key_file;
  options.pilots = from.pilots;
  options.most_pilots = from.most_pilots;
  options.cpus = from.cpus;
  options.memory = from.memory;
  if (from.slot_time.count() > 0) options.time = duration_cast<seconds>(from.slot_time);
  options.drain_before = duration_cast<seconds>(from.drain_before);
  options.hosts = from.hosts;
  options.image = from.pod_image;
  options.space = from.pod_namespace;
  return options;
}

int print_command(const PilotOptions& from) {
  const auto engine = cluster::engine_of(from.print).value_or(cluster::Engine::kNone);
  const cluster::PrintOptions options = print_options_of(from);
  if (const std::string why = cluster::objection_to_print(engine, options); !why.empty())
    return refuse("pilot", Refusal{why});
  return say(cluster::print_engine(engine, options));
}

}  // namespace cli
