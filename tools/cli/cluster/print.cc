#include "tools/cli/cluster/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include "tools/cli/refusal.h"

namespace cli {
namespace {

struct OnlyOf {
  std::string_view option, engines;
};
// Others have no place for it. Nobody may call the pods.
constexpr OnlyOf kOnlyOf[] = {
    {"--pilots", "slurm, htcondor, kubernetes"},
    {"--cpus", "slurm, htcondor, kubernetes"},
    {"--memory", "slurm, htcondor, kubernetes"},
    {"--slot-time", "slurm, htcondor"},
    {"--most-pilots", "kubernetes"},
    {"--pod-image", "kubernetes"},
    {"--pod-namespace", "kubernetes"},
    {"--host", "ssh"},
    {"--listen", "slurm, htcondor, ssh"},
};

}  // namespace

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
  options.grace = from.carried_grace;
  options.arguments = from.carried.words;
  for (const auto& [option, path] : from.carried.files) options.files.push_back({option, path});
  return options;
}

sys::Result<std::string> printed_text(const PilotOptions& from) {
  for (const std::string& name : from.carried.names) {
    const auto* const only = std::ranges::find(kOnlyOf, name, &OnlyOf::option);
    if (only != std::end(kOnlyOf) && only->engines.find(from.print) == std::string_view::npos) {
      return sys::Error::because(fmt::format("{} does not go with --print {}: it is for {}", name,
                                             from.print, only->engines));
    }
  }
  const auto engine = cluster::engine_of(from.print).value_or(cluster::Engine::kNone);
  const cluster::PrintOptions options = print_options_of(from);
  if (const std::string why = cluster::objection_to_print(engine, options); !why.empty())
    return sys::Error::because(why);
  return cluster::print_engine(engine, options);
}

int print_command(const PilotOptions& from) {
  const sys::Result<std::string> text = printed_text(from);
  return text ? say(*text) : refuse("pilot", Refusal{text.error().text()});
}

}  // namespace cli
