#include "tools/cli/doctor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sandbox/sys/file.h"

namespace cli {
namespace {

std::string first_line(std::string_view level) {
  if (level.empty())
    return "This host does not give the floor of isolation: zygo refuses to start.";
  std::string text = fmt::format("This host gives level {}.", level);
  if (level != "full") text += " Only full is built yet, so zygo does not run programs here.";
  return text;
}

std::string level_of(const Checkup& checkup) {
  std::optional<sandbox::Level> level = sandbox::best_level(checkup.layers);
  return level ? std::string(sandbox::name_of(*level)) : "";
}

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

Checkup examine(const std::string& python) {
  utsname names{};
  ::uname(&names);
  return {sandbox::probe_host(), names.release, python, version_of(python)};
}

}  // namespace

std::string checkup_table(const Checkup& checkup, const Style& style) {
  std::string text = style.paint(Colour::kBold, first_line(level_of(checkup)));
  text += fmt::format("\nkernel {}, python {} ({})\n\n", checkup.kernel,
                      checkup.python_version.empty() ? "not found" : checkup.python_version,
                      escape_controls(checkup.python, Lines::kEscape));
  size_t widest = 5;
  for (const auto& layer : checkup.layers) widest = std::max(widest, layer.name.size());
  text +=
      style.paint(Colour::kBold, fmt::format("{:<{}}  {:<5}  {}", "layer", widest, "there", "why"));
  for (const auto& layer : checkup.layers) {
    std::string there = style.paint(layer.available ? Colour::kGreen : Colour::kRed,
                                    layer.available ? "yes  " : "no   ");
    text += fmt::format("\n{:<{}}  {}  {}", layer.name, widest, there,
                        escape_controls(layer.why, Lines::kEscape));
    if (layer.cure.empty()) continue;
    text += fmt::format("\n{:<{}}  cure: {}", "", widest + 7,
                        escape_controls(layer.cure, Lines::kEscape));
  }
  return text;
}

std::string checkup_json(const Checkup& checkup) {
  using nlohmann::ordered_json;
  std::string level = level_of(checkup);
  ordered_json layers = ordered_json::object();
  for (const auto& layer : checkup.layers) {
    layers[layer.name] = {{"available", layer.available}, {"why", layer.why}, {"cure", layer.cure}};
  }
  ordered_json version =
      checkup.python_version.empty() ? ordered_json(nullptr) : ordered_json(checkup.python_version);
  ordered_json all = {{"level", level.empty() ? ordered_json(nullptr) : ordered_json(level)},
                      {"layers", layers},
                      {"kernel", checkup.kernel},
                      {"python", {{"path", checkup.python}, {"version", version}}}};
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

bool meets(const Checkup& checkup, const CommonOptions& common) {
  std::optional<sandbox::Level> level = sandbox::best_level(checkup.layers);
  if (!level) return false;
  if (common.required_level && *level > *common.required_level) return false;
  if (common.level && *level > *common.level) return false;
  uint32_t there = sandbox::available_layers(checkup.layers).bits();
  return (common.required_layers.bits() & ~there) == 0;
}

int doctor_command(const CommandLine& line) {
  Checkup checkup = examine(line.common.python);
  Style style = style_for(STDOUT_FILENO, line.common.no_color);
  std::string text = line.common.json ? checkup_json(checkup) : checkup_table(checkup, style);
  static_cast<void>(sys::write_all(STDOUT_FILENO, text + "\n").ok());
  return meets(checkup, line.common) ? kExitOk : kExitSomeFailed;
}

}  // namespace cli
