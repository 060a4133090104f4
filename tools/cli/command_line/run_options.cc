#include "tools/cli/command_line/run_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "runtime/job/limits.h"
#include "runtime/json/job/job_fields.h"
#include "tools/cli/command_line/core/parsed_option.h"
#include "tools/cli/units.h"

namespace cli {
namespace {

sys::Result<sandbox::Profile> parse_profile(const std::string& text) {
  if (auto profile = sandbox::profile_named(text)) return *profile;
  return sys::Error::because(
      fmt::format("\"{}\" is not a profile; choose pure, default, subprocess or build", text));
}

// "10s", "512M", "64"
std::string words_of(const runtime::LimitRule& rule) {
  const int64_t usual = rule.get(runtime::Limits{});
  if (rule.unit() == "ms") return fmt::format("{}s", usual / 1000);
  return std::to_string(usual) + (rule.unit() == "mb" ? "M" : rule.unit() == "kb" ? "K" : "");
}

// `shared`: other limits have the option, too, and other defaults.
void add_limit(CLI::App& app, const runtime::LimitRule& rule, bool shared, RunOptions& into) {
  const std::string option(rule.option);
  const std::string help =
      std::string(rule.help) + (shared ? "" : " (default " + words_of(rule) + ")");
  const auto put = [&into, key = rule.option](runtime::LimitRule::Amount amount) {
    into.limits[key] = amount;
  };
  const auto put_parsed = [option, put](const auto& value) {
    if (!value) throw CLI::ValidationError(option, value.error().text());
    put(*value);
  };
  const auto usual = rule.amount_in({});
  if (std::holds_alternative<sys::Milliseconds>(usual)) {
    app.add_option_function<std::string>(
           option, [=](const std::string& text) { put_parsed(parse_duration(text)); }, help)
        ->type_name("TIME");
  } else if (std::holds_alternative<sys::Bytes>(usual)) {
    app.add_option_function<std::string>(
           option, [=](const std::string& text) { put_parsed(parse_size(text)); }, help)
        ->type_name("SIZE");
  } else {
    const auto put_count = [put](uint32_t count) { put(count); };
    whole_number(app.add_option_function<uint32_t>(option, put_count, help),
                 static_cast<unsigned>(rule.min), static_cast<unsigned>(rule.max));
  }
}

void add_limits(CLI::App& app, RunOptions& into) {
  app.option_defaults()->group("Limits");
  for (const runtime::LimitRule& rule : runtime::kLimits) {
    if (rule.help.empty()) continue;
    const bool shared =
        std::ranges::count(runtime::kLimits, rule.option, &runtime::LimitRule::option) > 1;
    add_limit(app, rule, shared, into);
  }
  app.option_defaults()->group("Options");
}

void add_profile(CLI::App& app, RunOptions& into) {
  parsed_option(app, "--profile", "NAME", "Operations allowed: pure, default, subprocess, build",
                into.profile, parse_profile);
}

void number_of_fixed_mode(CLI::App& app, const char* name, int64_t& into, const char* field,
                          const char* meaning, CLI::Option* mode) {
  const runtime::Field& rule =
      runtime::job_fields()[static_cast<size_t>(runtime::field_index(field))];
  CLI::Validator within = CLI::Range(rule.min, rule.max);
  within.description("");
  app.add_option(name, into, meaning)->check(within)->type_name("N")->needs(mode);
}

void add_fixed_mode(CLI::App& app, runtime::FixedMode& into) {
  CLI::Option* mode = app.add_flag("--fixed", into.on,
                                   "Clocks, randomness and addresses are the same in every run");
  number_of_fixed_mode(app, "--seed", into.seed, "determinism.seed",
                       "With --fixed: all randomness follows from it; otherwise 0", mode);
  number_of_fixed_mode(app, "--clock-step", into.clock_step_us, "determinism.clock_step_us",
                       "With --fixed: microseconds that each reading of a clock adds; otherwise 1; "
                       "0: clocks stand still",
                       mode);
  number_of_fixed_mode(app, "--clock-start", into.start, "determinism.start",
                       "With --fixed: the time at its start, in seconds since 1970; otherwise "
                       "1577836800",
                       mode);
}

// "--HistoryManager.hist_file=:memory:": a trait of one of its classes.
bool is_of_ipython(std::string_view word) {
  constexpr std::string_view kDashes = "--";
  if (!word.starts_with(kDashes)) return false;
  const std::string_view trait = word.substr(kDashes.size(), word.find('=') - kDashes.size());
  const size_t dot = trait.find('.');
  const bool has_class = !trait.empty() && trait.front() >= 'A' && trait.front() <= 'Z';
  return has_class && dot != trait.npos && word.find('=') != word.npos;
}

}  // namespace

void add_run(CLI::App& app, CommandLine& line) {
  RunOptions& into = line.run;
  app.add_option("PROGRAM", into.program,
                 "Source file; - reads it from stdin. Its extension chooses the template")
      ->type_name("");
  app.add_option("ARGS", into.args, "The program's own arguments; put them behind --")
      ->type_name("");
  add_limits(app, into);
  add_profile(app, into);
  whole_number(app.add_option("--determinism", into.determinism,
                              "Run N times under different seeds and compare"),
               1u, 8u);
  add_fixed_mode(app, into.fixed);
  CLI::Option* call = app.add_option("--call", into.func, "Call FUNC after running the definitions")
                          ->type_name("FUNC");
  CLI::Option* inputs = app.add_option("--inputs", into.inputs, "JSON array: one call per element")
                            ->type_name("FILE");
  call->needs(inputs);
  inputs->needs(call);
  app.add_flag("--array", into.array, "Nested lists of integers become numpy arrays")->needs(call);
  app.add_option("--stdin", into.stdin_file, "The program's stdin, instead of zygo's own")
      ->type_name("FILE")
      ->excludes(call);
  app.add_option("--compiler-flag", into.compiler_flags,
                 "A word for the compiler, e.g. --compiler-flag=-O3; repeatable")
      ->type_name("FLAG")
      ->allow_extra_args(false);
  app.add_flag("--command", into.is_command,
               "PROGRAM is no file but a program of the image, by name or path");
  app.add_flag("--observe", into.observe,
               "Count every system call, and say which profile the program needs (slow)");
  app.add_flag("--record", into.record,
               "With --json: the result carries the whole job, for zygo replay");
}

void add_session(CLI::App& app, CommandLine& line) {
  app.add_option(
         "FILE", line.run.args,
         "Source files, each a step; without any, or on a terminal, steps are read from stdin")
      ->type_name("");
  add_limits(app, line.run);
  add_profile(app, line.run);
}

void add_mcp(CLI::App& app, CommandLine& line) {
  add_limits(app, line.run);
  add_profile(app, line.run);
}

void add_kernel_run(CLI::App& app, CommandLine& line) {
  app.add_option("-f,--connection-file", line.kernel.connection_file,
                 "Jupyter's file of ports and key")
      ->required()
      ->type_name("FILE");
  app.allow_extras();
  add_limits(app, line.run);
  add_profile(app, line.run);
}

void add_kernel_install(CLI::App& app, CommandLine& line) {
  app.add_option("--prefix", line.kernel.prefix,
                 "Below PREFIX/share/jupyter (default: for this user alone)")
      ->type_name("PREFIX");
  app.add_option("--name", line.kernel.name, "The folder's name (default zygo)")->type_name("NAME");
  app.add_option("--display-name", line.kernel.display_name,
                 "What menus show (default Python 3 (zygo))")
      ->type_name("TEXT");
  add_limits(app, line.run);
  add_profile(app, line.run);
}

std::string finish_run(const CLI::App&, CommandLine& line) {
  if (line.run.program.empty() && line.common.image.empty())
    return "PROGRAM is required (with --image, its own command is run without one)";
  if (line.run.record && !line.common.json)
    return "--record is a part of the result, which --json prints: add --json";
  return "";
}

std::string finish_kernel_run(const CLI::App& app, CommandLine&) {
  for (const std::string& word : app.remaining(true)) {
    if (!is_of_ipython(word)) throw CLI::ExtrasError(std::vector<std::string>{word});
  }
  return "";
}

}  // namespace cli
