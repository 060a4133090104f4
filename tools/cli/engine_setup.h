#pragma once
// Turns the common options into an engine's: level, layers, templates. An impossible
// combination is a Refusal with its exit code. Pure; main passes the real Parts, tests pass
// fakes.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/engine/engine.h"
#include "tools/cli/options.h"
#include "tools/cli/refusal.h"
#include "tools/cli/signals.h"

namespace cli {

// The parts of zygo that a command needs.
struct Parts {
  std::vector<runtime::TemplateSpec> builtin_templates;
  std::function<sys::Result<std::unique_ptr<runtime::Engine>>(runtime::EngineOptions)> start_engine;
  const StopSignals* stop = nullptr;
};

std::optional<Refusal> check_level(const CommonOptions& common);

// The built-in templates, and the one that --preload defines.
std::variant<std::vector<runtime::TemplateSpec>, Refusal> known_templates(
    const CommonOptions& common, const std::vector<runtime::TemplateSpec>& builtin);

// The template of jobs that name none: --template, or what --preload defined; empty: not said.
std::string chosen_template(const CommonOptions& common);

// The runtime whose source files end like this one; empty: none does.
std::string template_for_file(const std::string& path,
                              const std::vector<runtime::TemplateSpec>& known);

std::optional<Refusal> check_template(const std::string& name,
                                      const std::vector<runtime::TemplateSpec>& known);

// Unpacks a packed environment that is used here for the first time, until `stop` came.
std::variant<runtime::EngineOptions, Refusal> engine_options(
    const CommonOptions& common, const std::vector<runtime::TemplateSpec>& builtin,
    unsigned workers, const StopSignals* stop = nullptr);

}  // namespace cli
