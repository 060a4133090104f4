#include "tools/cli/kernel/kernel_spec.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace cli {

namespace {
constexpr std::array<std::string_view, 3> kOfInstall{"--prefix", "--name", "--display-name"};
constexpr std::array<std::string_view, 4> kOfFiles{"--python", "--setup", "--packages", "--config"};

template <size_t N>
bool is_among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}
}  // namespace

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

std::vector<std::string> options_to_run(
    const std::vector<std::string>& arguments, const std::filesystem::path& folder,
    const std::function<bool(const std::filesystem::path&)>& is_file) {
  const auto from_root = [&](std::string_view option, const std::string& value) {
    const std::filesystem::path path = (folder / value).lexically_normal();
    const bool is_program = option == "--python" && value.find('/') == value.npos && !is_file(path);
    return is_program ? value : path.string();
  };
  const auto command = std::ranges::find(arguments, "install");
  std::vector<std::string> kept;
  for (auto word = command; word != arguments.end(); ++word) {
    if (word == command) continue;
    const std::string_view name = std::string_view(*word).substr(0, word->find('='));
    const bool has_value = name.size() < word->size();
    const bool has_value_behind = !has_value && word + 1 != arguments.end();
    if (is_among(kOfInstall, name)) {
      if (has_value_behind) ++word;
    } else if (is_among(kOfFiles, name) && has_value) {
      kept.push_back(std::string(name) + "=" + from_root(name, word->substr(name.size() + 1)));
    } else if (is_among(kOfFiles, name) && has_value_behind) {
      kept.push_back(*word);
      kept.push_back(from_root(name, *++word));
    } else {
      kept.push_back(*word);
    }
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
