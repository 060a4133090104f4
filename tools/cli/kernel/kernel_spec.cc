#include "tools/cli/kernel/kernel_spec.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace cli {

namespace {
constexpr std::array<std::string_view, 3> kOfInstall{"--prefix", "--name", "--display-name"};
}

std::string kernel_folder(const KernelOptions& options,
                          const std::function<const char*(const char*)>& environment) {
  const auto value_of = [&](const char* name) {
    const char* const value = environment(name);
    return std::string(value ? value : "");
  };
  const std::string end = "/kernels/" + options.name;
  if (!options.prefix.empty()) return options.prefix + "/share/jupyter" + end;
  if (const std::string data = value_of("JUPYTER_DATA_DIR"); !data.empty()) return data + end;
  if (const std::string data = value_of("XDG_DATA_HOME"); !data.empty())
    return data + "/jupyter" + end;
  const std::string home = value_of("HOME");
  return home.empty() ? "" : home + "/.local/share/jupyter" + end;
}

std::vector<std::string> options_to_run(const std::vector<std::string>& arguments) {
  const auto command = std::ranges::find(arguments, "install");
  std::vector<std::string> kept;
  for (auto word = command; word != arguments.end(); ++word) {
    if (word == command) continue;
    const std::string_view name = std::string_view(*word).substr(0, word->find('='));
    if (std::ranges::find(kOfInstall, name) == kOfInstall.end())
      kept.push_back(*word);
    else if (name.size() == word->size() && word + 1 != arguments.end())
      ++word;  // its value
  }
  return kept;
}

std::string kernel_json(const std::string& program, const std::vector<std::string>& options,
                        const std::string& display_name) {
  std::vector<std::string> argv{program, "kernel", "run", "-f", "{connection_file}"};
  argv.insert(argv.end(), options.begin(), options.end());
  const nlohmann::ordered_json spec = {{"argv", argv},
                                       {"display_name", display_name},
                                       {"language", "python"},
                                       {"interrupt_mode", "message"},
                                       {"metadata", {{"debugger", false}}}};
  return spec.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace cli
