#include "tools/cli/suites/harness.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cli {
namespace {

using nlohmann::json;

std::string text_of(std::string_view name) {
  const auto modules = harness_modules();
  const auto found = std::ranges::find(modules, name, &HarnessModule::name);
  return found == modules.end() ? std::string() : std::string(found->text);
}

// JSON within a literal of JSON: in ASCII both are literals of Python as well.
std::string in_ascii(const json& value) { return value.dump(-1, ' ', true); }

// As jobs.py makes it, for an interpreter of any version.
std::string source_of(const std::vector<std::string>& modules, json with) {
  json sources = json::object();
  for (const std::string& name : modules) sources[name] = text_of(name);
  const json order = {
      {"modules", modules}, {"sources", std::move(sources)}, {"with", std::move(with)}};
  return text_of("loader") + "\n\nstart(" + in_ascii(in_ascii(order)) + ")\n";
}

double seconds(sys::Milliseconds time) { return static_cast<double>(time.count()) / 1000; }

}  // namespace

std::string program_side() {
  return source_of({"operators", "streams", "wire", "program_side"}, {{"script", nullptr}});
}

std::string tests_side(const SuitePlan& plan) {
  const json suite = {
      {"program", plan.program}, {"given", plan.tests}, {"framework", plan.framework}};
  return source_of({"operators", "streams", "wire", "proxies", "session", "report", "frameworks",
                    "plan", "tests_side"},
                   {{"strict", plan.strict},
                    {"wall", seconds(plan.wall)},
                    {"cpu", seconds(plan.cpu)},
                    {"suite", suite}});
}

}  // namespace cli
