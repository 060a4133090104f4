#include "tools/cli/command_line/core/common_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "tools/cli/command_line/core/environment.h"
#include "tools/cli/command_line/core/parsed_option.h"
#include "tools/cli/units.h"

namespace cli {
namespace {

sys::Result<std::vector<std::string>> parse_list(const std::string& text) {
  std::vector<std::string> items = CLI::detail::split(text, ',');
  for (const std::string& item : items) {
    if (item.empty()) {
      return sys::Error::because(fmt::format("\"{}\" has an empty name; write e.g. a,b", text));
    }
  }
  return items;
}

sys::Result<sandbox::Level> parse_level(const std::string& text) {
  if (auto level = sandbox::level_named(text)) return *level;
  return sys::Error::because(
      fmt::format("\"{}\" is not a level; choose full, contained or minimal", text));
}

sys::Result<sandbox::Layers> parse_layers(const std::vector<std::string>& names) {
  sandbox::Layers layers;
  for (const std::string& name : names) {
    auto layer = sandbox::layer_named(name);
    if (!layer) {
      return sys::Error::because(
          fmt::format("\"{}\" is not a layer; `zygo doctor` lists them", name));
    }
    layers = layers.with(*layer);
  }
  return layers;
}

// LEVEL[,LAYER...]; a list of layers alone is fine too.
void read_require(const std::string& text, CommonOptions& into) {
  auto names = parse_list(text);
  if (!names) throw CLI::ValidationError("--require", names.error().text());
  if (auto level = sandbox::level_named(names->front())) {
    into.required_level = level;
    names->erase(names->begin());
  }
  auto layers = parse_layers(*names);
  if (!layers) throw CLI::ValidationError("--require", layers.error().text());
  into.required_layers = *layers;
}

void read_without(const std::string& text, CommonOptions& into) {
  const char* testing = std::getenv("ZYGO_TESTING");
  if (testing == nullptr || std::string_view(testing) != "1") {
    throw CLI::ValidationError("--without", "takes isolation away and is for tests of zygo only");
  }
  auto names = parse_list(text);
  if (!names) throw CLI::ValidationError("--without", names.error().text());
  auto layers = parse_layers(*names);
  if (!layers) throw CLI::ValidationError("--without", layers.error().text());
  into.without = *layers;
}

}  // namespace

void add_common(CLI::App& app, CommonOptions& into) {
  app.option_defaults()->group(kCommonGroup);
  parsed_option(app, "--level", "LEVEL", "Isolation level to use: full, contained, minimal",
                into.level, parse_level);
  app.add_option_function<std::string>(
         "--require", [&into](const std::string& text) { read_require(text, into); },
         "Refuse to run with less, e.g. full,cgroup.memory")
      ->type_name("LEVEL[,LAYER...]");
  app.add_option("--config", into.config,
                 "JSON file: an object with the long options' names, e.g. {\"memory\": \"256M\"}")
      ->type_name("FILE");
  app.add_flag("--no-project", into.no_project,
               "Leave aside zygo.toml and [tool.zygo] of pyproject.toml (of run, batch, template)");
  app.add_flag("--trust-project", into.trust.given,
               "Allow preload and setup of that file: they run outside of the sandbox");
  app.add_flag("--json", into.json, "Write for programs: JSON");
  app.add_flag("--quiet", into.quiet, "No progress, no tables, no messages about success");
  app.add_flag("--no-color", into.no_color,
               "No colour (NO_COLOR in the environment does the same)");
  app.add_option("--python", into.python,
                 "Interpreter, also that of a venv; or a packed environment (zygo image pack)")
      ->type_name("PATH")
      ->capture_default_str();
  parsed_option(app, "--preload", "a,b,...", "Define a template that imports these modules first",
                into.preload, parse_list);
  app.add_option("--setup", into.setup,
                 "Python file that this template runs once, behind its imports; programs reach "
                 "its definitions as the module zygo_setup")
      ->type_name("FILE");
  app.add_option("--template", into.template_name,
                 "Template to use; with --preload or --setup, the new one's name (else \"custom\")")
      ->type_name("NAME");
  app.add_option("--image", into.image,
                 "Image that programs see instead of the host's /usr (zygo image list)")
      ->type_name("NAME");
  app.add_option("--packages", into.packages,
                 "Folder of a Piston package, or of LANGUAGE/VERSION folders of such, as runtimes")
      ->type_name("DIR")
      ->take_all()
      ->allow_extra_args(false);
  parsed_option(app, "--build-cache", "SIZE",
                "Most bytes of compiled programs to keep on disk (default 1G; 0: nothing)",
                into.build_cache, parse_size);
  app.add_option("--heap", into.heap, "How templates keep their memory (for tests and benches)")
      ->check(CLI::IsMember({"plain", "moved", "merged", "huge"}))
      ->group("");
  app.add_option_function<std::string>(
         "--memory-of-jobs",
         [&into](const std::string& word) { into.borrows_memory = word == "borrowed"; },
         "Memory of Python's jobs: borrowed from the cell and brought back (default), or fork")
      ->check(CLI::IsMember({"fork", "borrowed"}))
      ->type_name("MODE");
  app.add_flag("--verify-rollback", into.verifies_rollback,
               "With borrowed: compare all of it with its first state after each job (slow)");
  app.add_option_function<std::string>(
         "--start", [&into](const std::string& word) { into.warm = word == "warm"; },
         "How interpreters of runtimes start (for tests and benches)")
      ->check(CLI::IsMember({"warm", "exec"}))
      ->group("");
  app.add_option_function<std::string>(
         "--without", [&into](const std::string& text) { read_without(text, into); }, "")
      ->group("");
  app.option_defaults()->group("Options");
}

}  // namespace cli
