#include "tools/cli/command_line/core/parser.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "runtime/values/nearest_name.h"
#include "tools/cli/command_line/core/common_options.h"
#include "tools/cli/command_line/core/config_file.h"
#include "tools/cli/command_line/core/environment.h"
#include "tools/cli/refusal.h"

#ifndef ZYGO_VERSION
#define ZYGO_VERSION "0"
#endif

namespace cli {
namespace {

// A sentence for stderr, headed by the command it is about; or as it is, for `trouble`.
int refuse(const CLI::App& app, const std::string& sentence, std::string* trouble) {
  if (trouble) {
    *trouble = sentence;
    return kExitUsage;
  }
  std::string name;
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    name += (name.empty() ? "" : " ") + at->get_name();
  }
  const std::string hint = fmt::format("Try: zygo {}{}--help", name, name.empty() ? "" : " ");
  return cli::refuse(name, {sentence}, hint);
}

// Everything CLI11 knows about the commands. The values it fills belong to `line`.
class Grammar {
 public:
  Grammar(const Program& program, CommandLine& line) : program_(program) {
    app.set_help_flag("-h,--help", "This text");
    app.set_version_flag("--version", "zygo " ZYGO_VERSION, "The version");
    app.footer(program.footer);
    app.require_subcommand(1);
    add_common(app, line.common);
    for (const Syntax& syntax : program.commands) add(syntax, line);
  }

  // The innermost command that was named, or the program.
  const CLI::App& named() const {
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
    return *at;
  }

  // The command of the command line, once the line was parsed.
  const Syntax& chosen() const {
    const auto is_named = [this](const auto& row) { return row.second == &named(); };
    return *std::ranges::find_if(rows_, is_named)->first;
  }

  const Program& program() const { return program_; }

  CLI::App app{"Runs untrusted programs, each in a fresh sandbox, and says how they ended.",
               "zygo"};

 private:
  void add(const Syntax& syntax, CommandLine& line) {
    const std::string_view path = syntax.path;
    const size_t space = path.rfind(' ');
    CLI::App* parent = &app;
    if (space != path.npos) {
      parent = app.get_subcommand(std::string(path.substr(0, space)));
      parent->require_subcommand(1);
    }
    CLI::App* command = parent->add_subcommand(std::string(path.substr(space + 1)), syntax.help);
    command->footer(syntax.footer);
    command->set_help_flag("-h,--help", "This text");
    if (syntax.add) syntax.add(*command, line);
    if (syntax.command && syntax.has_common) add_common(*command, line.common);
    rows_.emplace_back(&syntax, command);
  }

  const Program& program_;
  std::vector<std::pair<const Syntax*, const CLI::App*>> rows_;
};

// The option of the command, or the command, that was probably meant.
std::string suggestion(const CLI::App& app, const std::string& word) {
  const CLI::App* chosen = &app;
  while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().front();
  std::vector<std::string> known;
  if (word.starts_with('-')) {
    for (const CLI::App* at = chosen; at; at = at->get_parent()) {
      for (const CLI::Option* option : at->get_options()) {
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      }
    }
  } else {
    const auto any = [](const CLI::App*) { return true; };
    for (const CLI::App* command : chosen->get_subcommands(any))
      known.push_back(command->get_name());
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string_view nearest = runtime::nearest_name(word.substr(0, word.find('=')), names);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

std::string unknown(const Grammar& grammar, const std::string& word) {
  std::string hint = suggestion(grammar.app, word);
  if (hint.empty() && *grammar.program().others != '\0')
    hint = fmt::format("; {}", grammar.program().others);
  return fmt::format("unknown command or option \"{}\"{}", word, hint);
}

// Of whom the command line is a person's; a coprocess of a client is none of the folder's.
bool reads_project(const CommandLine& line) {
  const bool is_coprocess = line.batch.any_id || line.batch.share >= 0;
  return !line.common.no_project && !is_coprocess &&
         (line.command == Command::kRun || line.command == Command::kBatch ||
          line.command == Command::kTemplateList);
}

// Returns the mistake in it, or nothing.
std::string read_project(CommonOptions& common) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error);
  if (error) return "";  // the folder is gone, and so is its project
  sys::Result<Project> project = find_project(here, common.trust);
  if (!project) return project.error().text();
  common.project = *std::move(project);
  return "";
}

// Returns the mistake in the line, or nothing.
std::string read(Grammar& grammar, std::vector<std::string> arguments, CommandLine& line,
                 bool is_told) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  grammar.app.parse(std::move(arguments));
  const Syntax& chosen = grammar.chosen();
  if (!chosen.command) return fmt::format("{} has to be the first word", chosen.path);
  line.command = *chosen.command;
  if (chosen.has_common) {
    line.from_environment = apply_environment(grammar.app);
    if (line.command == Command::kServe && !line.common.quiet && is_told)
      warn_of_variables(grammar.named());
    if (!line.common.config.empty()) apply_config_file(line.common.config, grammar.app);
    if (is_told) refuse_in_json(line.common.json);
    if (reads_project(line)) {
      if (std::string mistake = read_project(line.common); !mistake.empty()) return mistake;
    }
  }
  return chosen.finish ? chosen.finish(grammar.app, line) : "";
}

}  // namespace

std::variant<CommandLine, int> parse_command_line(const Program& program,
                                                  std::vector<std::string> arguments,
                                                  std::string* trouble) {
  CommandLine line;
  line.arguments = arguments;
  Grammar grammar(program, line);
  CLI::App& app = grammar.app;
  const auto end_of_options = std::find(arguments.begin(), arguments.end(), "--");
  const bool json_was_said =
      std::find(arguments.begin(), end_of_options, "--json") != end_of_options;
  const auto refused = [&](const std::string& sentence) {
    if (!trouble) refuse_in_json(json_was_said || line.common.json);
    return refuse(app, sentence, trouble);
  };
  try {
    const std::string objection = read(grammar, std::move(arguments), line, trouble == nullptr);
    if (!objection.empty()) return refused(objection);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ExtrasError& error) {
    const std::vector<std::string> extras = app.remaining(true);
    std::string hint = extras.empty() ? "" : suggestion(app, extras.front());
    const CLI::App& named = grammar.named();
    if (hint.empty() && named.get_parent() == &app && named.get_name() == "run")
      hint = "; a program's own options go behind --";
    return refused(error.what() + hint);
  } catch (const CLI::RequiredError& error) {
    const std::vector<std::string> extras = app.remaining(true);
    return refused(extras.empty() ? error.what() : unknown(grammar, extras.front()));
  } catch (const CLI::Error& error) {
    return refused(error.what());
  }
  return line;
}

}  // namespace cli
