#include "tools/cli/command_line/core/grammar.h"

namespace cli {

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) {
    return !command->get_group().empty() && command->get_help_ptr() != nullptr;
  });
}

std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) {
    return !option->get_group().empty() && option->nonpositional();
  });
}

std::vector<const CLI::Option*> shown_arguments(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) {
    return !option->get_group().empty() && option->get_positional();
  });
}

std::string path_of(const CLI::App& app, const std::string& between) {
  const CLI::App* parent = app.get_parent();
  return (parent ? path_of(*parent, between) + between : "") + app.get_name();
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string placeholder_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // with what its checks say: "N:UINT in [1 - 8]"
  return type.substr(0, type.find(':'));
}

std::string name_of(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  return "-" + option.get_snames().front();
}

}  // namespace cli
