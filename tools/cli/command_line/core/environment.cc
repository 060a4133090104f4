#include "tools/cli/command_line/core/environment.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "tools/cli/command_line/core/grammar.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

constexpr std::string_view kPrefix = "ZYGO_";
// Options that ask for something else than what the command does.
constexpr std::array<std::string_view, 2> kNotSettings{"help", "version"};
// The variables that others read, and those that Kubernetes gives to pods beside a Service zygo.
constexpr std::array<std::string_view, 2> kOfOthers{"ZYGO_HOME", "ZYGO_BIN"};
constexpr std::array<std::string_view, 3> kBeginningsOfOthers{"ZYGO_TEST", "ZYGO_SERVICE_",
                                                              "ZYGO_PORT"};

// Services read all their options from the environment. The front of a pilot, which is started with
// its arguments, has what was found of the slot from there.
bool is_service(const CLI::App& command) {
  const std::string& name = command.get_name();
  return name == "serve" || name == "pilot" || name == "route";
}

void give(CLI::Option& option, const std::string& text) {
  if (option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll) {
    for (const std::string& item : CLI::detail::split(text, ',')) option.add_result(item);
  } else {
    option.add_result(text);
  }
  option.run_callback();
}

// The command line may say it before the command's name, too.
bool is_given(const CLI::App& command, const std::string& name) {
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    const CLI::Option* option = at->get_option_no_throw(name);
    if (option != nullptr && option->count() > 0) return true;
  }
  return false;
}

std::vector<std::string> apply_to(CLI::App& command) {
  std::vector<std::string> given;
  for (CLI::Option* option : command.get_options([](CLI::Option*) { return true; })) {
    const std::string variable = variable_of(command, *option);
    const char* value = variable.empty() ? nullptr : std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0' || is_given(command, name_of(*option))) continue;
    try {
      give(*option, value);
      given.push_back(name_of(*option));
    } catch (const CLI::Error& error) {
      throw CLI::ValidationError(variable, error.what());
    }
  }
  return given;
}

}  // namespace

std::string variable_of(const CLI::App& command, const CLI::Option& option) {
  const bool common = option.get_group() == kCommonGroup;
  if (option.get_group().empty() || option.get_lnames().empty()) return "";
  if (!common && !is_service(command)) return "";
  const std::string& name = option.get_lnames().front();
  if (std::find(kNotSettings.begin(), kNotSettings.end(), name) != kNotSettings.end()) return "";
  std::string variable(kPrefix);
  for (const char c : name)
    variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

std::vector<std::string> apply_environment(CLI::App& app) {
  CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return apply_to(*command);
}

void warn_of_variables(const CLI::App& serve) {
  std::vector<std::string> known;
  for (const CLI::Option* option : shown_options(serve))
    known.push_back(variable_of(serve, *option));
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const auto begins = [name](std::string_view with) { return name.starts_with(with); };
    if (!name.starts_with(kPrefix) ||
        std::find(kOfOthers.begin(), kOfOthers.end(), name) != kOfOthers.end() ||
        std::any_of(kBeginningsOfOthers.begin(), kBeginningsOfOthers.end(), begins) ||
        std::find(known.begin(), known.end(), name) != known.end()) {
      continue;
    }
    write_error_line("zygo serve: " + escape_controls(name, Lines::kEscape) +
                     " in the environment is no option of zygo serve");
  }
}

}  // namespace cli
