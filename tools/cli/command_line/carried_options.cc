#include "tools/cli/command_line/carried_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "tools/cli/command_line/core/grammar.h"
#include "tools/cli/command_line/serve_options.h"

namespace cli {
namespace {

// Said by whoever prints, in the words of the engine: cluster::PrintOptions has them.
constexpr std::array<std::string_view, 7> kOfPrinter{
    "--join",     "--token-file",   "--ca-file", "--cert-file",
    "--key-file", "--drain-before", "--grace"};
// Read already: what it says are options, which are carried themselves.
constexpr std::string_view kConfig = "--config";
// Where an engine brings the token to a pilot, it brings these, too.
constexpr std::array<std::string_view, 2> kBrought{"--tokens", "--setup"};
// How a command speaks with whoever has called it.
constexpr std::array<std::string_view, 3> kOfSpeech{"--json", "--quiet", "--no-color"};

bool is_in(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// With its results: an option that all commands have may stand before the command's name.
const CLI::Option* said(const CLI::App& command, const std::string& name) {
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    const CLI::Option* option = at->get_option_no_throw(name);
    if (option != nullptr && option->count() > 0) return option;
  }
  return nullptr;
}

void carry(const CLI::Option& option, const std::string& name, CarriedOptions& into) {
  if (!takes_value(option)) {
    into.words.push_back(name + (option.as<bool>() ? "" : "=false"));
    return;
  }
  for (const std::string& value : option.results()) {
    if (is_in(kBrought, name)) {
      into.files.emplace_back(name, value);
    } else if (value.starts_with('-')) {  // would be another option
      into.words.push_back(name + "=" + value);
    } else {
      into.words.insert(into.words.end(), {name, value});
    }
  }
}

CarriedOptions collect(const CLI::App& command, const std::vector<std::string>& from_environment,
                       auto is_for_pilots) {
  CarriedOptions carried;
  for (const CLI::Option* each : command.get_options()) {
    if (!each->nonpositional()) continue;
    const std::string name = name_of(*each);
    const CLI::Option* option = said(command, name);
    if (option == nullptr || is_in(from_environment, name)) continue;
    carried.names.push_back(name);
    if (name != kConfig && is_for_pilots(*each, name)) carry(*option, name, carried);
  }
  return carried;
}

}  // namespace

CarriedOptions options_for_pilots(const CLI::App& command,
                                  const std::vector<std::string>& from_environment) {
  return collect(command, from_environment, [](const CLI::Option& option, const std::string& name) {
    return option.get_group() != kPrintGroup && !is_in(kOfPrinter, name);
  });
}

CarriedOptions common_options_for_pilots(const CLI::App& command,
                                         const std::vector<std::string>& from_environment) {
  const auto is_common = [&](const CLI::Option&, const std::string& name) {
    return command.get_parent()->get_option_no_throw(name) != nullptr && !is_in(kOfSpeech, name);
  };
  return collect(command, from_environment, is_common);
}

}  // namespace cli
