#include "tools/cli/runtime_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sandbox/sys/file.h"
#include "sandbox/sys/spawn.h"
#include "tools/cli/engine_setup.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

constexpr size_t kLongestVersion = 32;

// The first line that it prints, on either stream. `asked` becomes false if it cannot be started.
std::string version_of(const std::vector<std::string>& command, bool& asked) {
  if (command.empty()) return "";
  auto program = runtime::find_program(command.front());
  if (!program) return "";
  std::vector<std::string> argv = {"/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1 </dev/null", *program};
  argv.insert(argv.end(), command.begin() + 1, command.end());
  auto said = sys::run_and_read(argv);
  asked = said.ok();
  if (!said || said->status != 0) return "";
  const std::string line = said->text.substr(0, said->text.find('\n'));
  return escape_controls(line.substr(0, kLongestVersion), Lines::kEscape);
}

// `known`: those before it. The tools of a variant are its runtime's.
OfferedRuntime look_at(const runtime::RuntimeSpec& spec, const std::vector<OfferedRuntime>& known) {
  OfferedRuntime offered;
  offered.name = spec.name;
  offered.title = spec.title;
  offered.how = spec.compiled() ? "compiled" : spec.warm ? "warm" : "executed";
  offered.profile = std::string(sandbox::name_of(spec.profile));
  offered.package = spec.package;
  offered.aliases = spec.aliases;
  offered.extensions = spec.extensions;
  offered.language = spec.language;
  offered.variant_of = spec.variant_of;
  offered.version = spec.release;
  offered.missing = runtime::find_toolchain(spec).missing;
  if (!offered.missing.empty() || spec.version.empty()) return offered;
  const auto base = std::ranges::find(known, spec.variant_of, &OfferedRuntime::name);
  if (base != known.end()) {
    offered.version = base->version;
    offered.asked = base->asked;
  } else {
    offered.version = version_of(spec.version, offered.asked);
  }
  return offered;
}

OfferedRuntime python(const std::string& path) {
  OfferedRuntime offered;
  offered.name = offered.title = "python";
  offered.title = "Python (templates: zygo template list)";
  offered.how = "warm";
  offered.profile = "default";
  offered.extensions = {"py"};
  offered.version = version_of({path, "--version"}, offered.asked);
  if (offered.version.empty()) offered.missing = path;
  return offered;
}

std::string availability(const OfferedRuntime& runtime) {
  if (runtime.missing.empty()) return runtime.version.empty() ? "yes" : runtime.version;
  return "no: " + runtime.missing + " is missing" +
         (runtime.package.empty() ? "" : " (package " + runtime.package + ")");
}

}  // namespace

std::string runtime_table(const std::vector<OfferedRuntime>& runtimes) {
  size_t name = 7, title = 5;
  for (const OfferedRuntime& each : runtimes) {
    name = std::max(name, columns_of(each.name));
    title = std::max(title, columns_of(each.title));
  }
  std::string text = fmt::format("{:<{}}  {:<{}}  {:<8}  {:<10}  {}", "runtime", name, "title",
                                 title, "how", "profile", "offered here");
  for (const OfferedRuntime& each : runtimes) {
    text += fmt::format("\n{:<{}}  {:<{}}  {:<8}  {:<10}  {}", each.name, name, each.title, title,
                        each.how, each.profile, availability(each));
  }
  return text;
}

std::string runtime_json(const std::vector<OfferedRuntime>& runtimes) {
  using nlohmann::ordered_json;
  ordered_json list = ordered_json::array();
  for (const OfferedRuntime& each : runtimes) {
    ordered_json item = {{"name", each.name},
                         {"title", each.title},
                         {"aliases", each.aliases},
                         {"extensions", each.extensions},
                         {"how", each.how},
                         {"profile", each.profile},
                         {"available", each.missing.empty()},
                         {"version", each.version}};
    if (!each.language.empty()) item["language"] = each.language;
    if (!each.variant_of.empty()) item["variant_of"] = each.variant_of;
    if (!each.missing.empty()) item["missing"] = each.missing;
    if (!each.package.empty()) item["package"] = each.package;
    list.push_back(std::move(item));
  }
  return list.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

std::vector<OfferedRuntime> offered_runtimes(const CommandLine& line, const Parts& parts) {
  std::vector<OfferedRuntime> offered = {python(line.common.python)};
  const auto known = known_templates(line.common, parts.builtin_templates);
  const auto* all = std::get_if<std::vector<runtime::TemplateSpec>>(&known);
  for (const runtime::TemplateSpec& spec : all ? *all : parts.builtin_templates) {
    if (spec.runtime) offered.push_back(look_at(*spec.runtime, offered));
  }
  return offered;
}

int runtime_list_command(const CommandLine& line, const Parts& parts) {
  const std::vector<OfferedRuntime> offered = offered_runtimes(line, parts);
  std::string text = line.common.json ? runtime_json(offered) : runtime_table(offered);
  static_cast<void>(sys::write_all(STDOUT_FILENO, text + "\n").ok());
  return kExitOk;
}

}  // namespace cli
