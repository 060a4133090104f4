#include "tools/cli/doctor/doctor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sandbox/probe/words.h"
#include "sandbox/sys/file.h"

namespace cli {
namespace {

using nlohmann::ordered_json;
using sandbox::Level;

constexpr size_t kWidest = 100;

// "3.11.2", or nothing when the interpreter does not answer. The interpreter is the user's own.
std::string version_of(const std::string& python) {
  sys::Result<sys::Pipe> pipe = sys::make_pipe();
  if (!pipe) return {};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, pipe->writer.get(), STDOUT_FILENO);
  std::string program = "import platform; print(platform.python_version())";
  std::string isolated = "-I", command = "-c", path = python;
  char* argv[] = {path.data(), isolated.data(), command.data(), program.data(), nullptr};
  pid_t pid = -1;
  int failure = ::posix_spawn(&pid, python.c_str(), &actions, nullptr, argv, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  pipe->writer.reset();
  if (failure != 0) return {};
  sys::Result<std::string> said = sys::read_all(pipe->reader.get(), 4096);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!said || status != 0) return {};
  return said->substr(0, said->find('\n'));
}

std::optional<sandbox::OwnFences> own_fences() {
  sys::Result<sandbox::OwnFences> found = sandbox::probe_own_fences();
  return found ? std::optional(*found) : std::nullopt;
}

// The layers that are in force, by their names.
ordered_json names_of(sandbox::Layers layers) {
  ordered_json names = ordered_json::array();
  for (const sandbox::Layer each : kOwnLayers) {
    if (layers.has(each)) names.push_back(sandbox::name_of(each));
  }
  return names;
}

Checkup examine(const CommonOptions& common) {
  utsname names{};
  ::uname(&names);
  return {.layers = sandbox::probe_host(),
          .location = sandbox::location_of(sandbox::clues_of_host()),
          .kernel = names.release,
          .python = common.python,
          .python_version = version_of(common.python),
          .asked = common.level,
          .own = own_fences()};
}

ordered_json levels_json(const Checkup& checkup) {
  ordered_json levels = ordered_json::object();
  for (Level level : sandbox::kLevels) {
    std::vector<std::string_view> missing = sandbox::missing_for(level, checkup.layers);
    levels[std::string(sandbox::name_of(level))] = {{"available", missing.empty()},
                                                    {"missing", missing}};
  }
  return levels;
}

ordered_json name_or_null(std::optional<Level> level) {
  return level ? ordered_json(sandbox::name_of(*level)) : ordered_json(nullptr);
}

}  // namespace

std::optional<Level> running_level(const Checkup& checkup) {
  if (!checkup.asked) return sandbox::best_level(checkup.layers);
  bool can = sandbox::missing_for(*checkup.asked, checkup.layers).empty();
  return can ? checkup.asked : std::nullopt;
}

bool in_force(const Checkup& checkup, const sandbox::LayerReport& layer) {
  std::optional<Level> level = running_level(checkup);
  return level && layer.available && sandbox::counts_at(*level, layer.name);
}

std::string checkup_json(const Checkup& checkup) {
  ordered_json layers = ordered_json::object();
  for (const auto& layer : checkup.layers) {
    layers[layer.name] = {
        {"available", layer.available},
        {"kernel", layer.kernel ? ordered_json(*layer.kernel) : ordered_json(nullptr)},
        {"usable", layer.available},
        {"in_force", in_force(checkup, layer)},
        {"why", layer.why},
        {"lost", sandbox::lost_without(layer.name)},
        {"cure", layer.cure}};
  }
  ordered_json version =
      checkup.python_version.empty() ? ordered_json(nullptr) : ordered_json(checkup.python_version);
  const sandbox::Location& at = checkup.location;
  ordered_json all = {{"level", name_or_null(sandbox::best_level(checkup.layers))},
                      {"running", name_or_null(running_level(checkup))},
                      {"levels", levels_json(checkup)},
                      {"layers", layers},
                      {"own",
                       {{"engine", names_of(checkup.own.value_or(sandbox::OwnFences()).engine)},
                        {"front", names_of(checkup.own.value_or(sandbox::OwnFences()).front)}}},
                      {"place",
                       {{"kind", sandbox::name_of(at.place)},
                        {"engine", at.engine},
                        {"root", at.root},
                        {"rootless", at.rootless},
                        {"filtered", at.filtered}}},
                      {"kernel", checkup.kernel},
                      {"python", {{"path", checkup.python}, {"version", version}}}};
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

std::string unmet(const Checkup& checkup, const CommonOptions& common) {
  std::optional<Level> level = running_level(checkup);
  if (!level) {
    return fmt::format("level {}", sandbox::name_of(checkup.asked.value_or(Level::kMinimal)));
  }
  std::string names;
  auto add = [&names](std::string_view kind, std::string_view name) {
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", kind, name);
  };
  if (common.required_level && *level > *common.required_level) {
    add("level", sandbox::name_of(*common.required_level));
  }
  for (const auto& report : checkup.layers) {
    std::optional<sandbox::Layer> layer = sandbox::layer_named(report.name);
    if (layer && common.required_layers.has(*layer) && !in_force(checkup, report)) {
      add("layer", report.name);
    }
  }
  return names;
}

int doctor_command(const CommandLine& line) {
  Checkup checkup = examine(line.common);
  Style style = style_for(STDOUT_FILENO, line.common.no_color);
  size_t width =
      is_terminal(STDOUT_FILENO) ? std::min(terminal_width(STDOUT_FILENO), kWidest) : kWidest;
  std::string text =
      line.common.json ? checkup_json(checkup) : checkup_table(checkup, style, width);
  static_cast<void>(sys::write_all(STDOUT_FILENO, text + "\n").ok());
  std::string lacking = unmet(checkup, line.common);
  if (lacking.empty()) return kExitOk;
  write_error_line(fmt::format("zygo doctor: this host does not give {}", lacking));
  return kExitSomeFailed;
}

}  // namespace cli
