#include "tools/cli/engine_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "images/pack.h"
#include "images/sha256.h"
#include "runtime/builds/build_cache.h"
#include "runtime/json/package_runtime.h"
#include "sandbox/sys/file.h"
#include "tools/cli/image/progress.h"
#include "tools/cli/text.h"

#ifndef ZYGO_VERSION
#define ZYGO_VERSION "0"
#endif

namespace cli {
namespace {

using runtime::TemplateSpec;

constexpr const char* kCustom = "custom";

const TemplateSpec* find(const std::vector<TemplateSpec>& known, const std::string& name) {
  auto found = std::find_if(known.begin(), known.end(), [&name](const TemplateSpec& spec) {
    return spec.name == name || (spec.runtime && spec.runtime->goes_by(name));
  });
  return found == known.end() ? nullptr : &*found;
}

bool defines_template(const CommonOptions& common) {
  return !common.preload.empty() || !common.setup.empty();
}

// The template reads the file itself, later and elsewhere: its path must not depend on where we
// are.
std::optional<Refusal> add_setup(const std::string& file, TemplateSpec& into) {
  if (file.empty()) return std::nullopt;
  const sys::Result<std::string> content = sys::read_file(file);
  if (!content) return Refusal{"--setup: " + content.error().text()};
  into.setup = std::filesystem::absolute(file).lexically_normal();
  into.setup_digest = images::sha256_of(*content);
  return std::nullopt;
}

std::string names_of(const std::vector<TemplateSpec>& known) {
  std::string names;
  for (const TemplateSpec& spec : known) names += (names.empty() ? "" : ", ") + spec.name;
  return names;
}

// Each language of each package is a template of its own.
std::optional<Refusal> add_packages(const CommonOptions& common, std::vector<TemplateSpec>& known) {
  if (!common.packages.empty() && !common.image.empty())
    return Refusal{"--packages and --image: packages are for the host's own files"};
  for (const std::string& folder : common.packages) {
    sys::Result<std::vector<runtime::RuntimeSpec>> specs = runtime::load_packages(folder);
    if (!specs) return Refusal{"--packages: " + specs.error().text()};
    for (runtime::RuntimeSpec& spec : *specs) {
      if (find(known, spec.name))
        return Refusal{"--packages: there is another template " + spec.name};
      const std::string name = spec.name;
      known.push_back({name, {}, "", std::make_shared<runtime::RuntimeSpec>(std::move(spec))});
    }
  }
  return std::nullopt;
}

// Those of the project that the command is called in.
std::optional<Refusal> add_project(const Project& project, std::vector<TemplateSpec>& known) {
  for (const ProjectTemplate& each : project.templates) {
    const std::string where = project.file + ": templates." + each.name;
    if (find(known, each.name) != nullptr)
      return Refusal{where + ": that template is built in; choose another name for yours"};
    TemplateSpec made{each.name, each.preload, ""};
    if (auto refusal = add_setup(each.setup, made))
      return Refusal{where + "." + refusal->sentence.substr(2)};  // without "--"
    known.push_back(std::move(made));
  }
  if (project.template_name.empty()) return std::nullopt;
  if (auto refusal = check_template(project.template_name, known))
    return Refusal{project.file + ": " + refusal->sentence};
  return std::nullopt;
}

// Compiling again is always right, so a directory that will not do is no reason to refuse.
void set_build_cache(const CommonOptions& common, const std::string& directory,
                     runtime::EngineOptions& options) {
  if (common.build_cache.count == 0) return;
  const sys::Result<void> usable = runtime::BuildCache::check(directory);
  if (!usable) {
    write_error_line("zygo: compiled programs are not kept: " +
                     escape_controls(usable.error().text(), Lines::kEscape));
    return;
  }
  options.builds = directory;
  options.builds_capacity = common.build_cache;
}

std::optional<Refusal> use_environment(const CommonOptions& common, const std::string& root,
                                       const StopSignals* stop, runtime::EngineOptions& options) {
  ImportProgress progress = progress_for(common, "zygo");
  sys::Result<images::Image> environment =
      images::obtain_environment(root, common.python, watch_of(progress, stop));
  progress.clear();
  if (!environment) {
    const sys::Error& error = environment.error();
    if (error.code() == ECANCELED) return Refusal{"interrupted", kExitInterrupted};
    return Refusal{"--python: " + error.text(), error.code() == 0 ? kExitUsage : kExitSandbox};
  }
  options.python = environment->config.python->interpreter;
  options.environment = *std::move(environment);
  return std::nullopt;
}

}  // namespace

// The engine tells what the host gives; this checks only what the options say about each other.
std::optional<Refusal> check_level(const CommonOptions& common) {
  if (!common.level || !common.required_level || *common.level <= *common.required_level) {
    return std::nullopt;
  }
  return Refusal{fmt::format("--level {} is less than --require {}",
                             sandbox::name_of(*common.level),
                             sandbox::name_of(*common.required_level))};
}

std::variant<std::vector<TemplateSpec>, Refusal> known_templates(
    const CommonOptions& common, const std::vector<TemplateSpec>& builtin) {
  std::vector<TemplateSpec> known = builtin;
  if (auto refusal = add_packages(common, known)) return *refusal;
  if (auto refusal = add_project(common.project, known)) return *refusal;
  if (!defines_template(common)) return known;
  TemplateSpec mine{common.template_name.empty() ? kCustom : common.template_name, common.preload,
                    ""};
  if (find(known, mine.name) != nullptr) {
    return Refusal{
        fmt::format("--template {} with --{}: that template is built in; choose "
                    "another name for yours",
                    mine.name, common.preload.empty() ? "setup" : "preload")};
  }
  if (auto refusal = add_setup(common.setup, mine)) return *refusal;
  known.push_back(std::move(mine));
  return known;
}

std::string chosen_template(const CommonOptions& common) {
  if (!common.template_name.empty()) return common.template_name;
  return defines_template(common) ? kCustom : "";
}

std::string template_for_file(const std::string& path, const std::vector<TemplateSpec>& known) {
  const size_t dot = path.rfind('.');
  if (dot == path.npos || path.find('/', dot) != path.npos) return "";
  const std::string extension = path.substr(dot + 1);
  for (const TemplateSpec& spec : known) {
    if (!spec.runtime) continue;
    const std::vector<std::string>& all = spec.runtime->extensions;
    if (std::find(all.begin(), all.end(), extension) != all.end()) return spec.name;
  }
  return "";
}

std::optional<Refusal> check_template(const std::string& name,
                                      const std::vector<TemplateSpec>& known) {
  if (find(known, name) != nullptr) return std::nullopt;
  return Refusal{
      fmt::format("template \"{}\" is unknown; there are {}. Define it with "
                  "--template {} --preload MODULE,...",
                  name, names_of(known), name)};
}

std::variant<runtime::EngineOptions, Refusal> engine_options(
    const CommonOptions& common, const std::vector<TemplateSpec>& builtin, unsigned workers,
    const StopSignals* stop) {
  if (auto refusal = check_level(common)) return *refusal;
  auto templates = known_templates(common, builtin);
  if (auto* refusal = std::get_if<Refusal>(&templates)) return *refusal;

  runtime::EngineOptions options;
  options.version = ZYGO_VERSION;
  options.python = common.python;
  options.level = common.level;
  options.least = common.required_level.value_or(common.level.value_or(sandbox::Level::kFull));
  const auto& known = std::get<std::vector<TemplateSpec>>(templates);
  options.templates.assign(known.begin() + static_cast<std::ptrdiff_t>(builtin.size()),
                           known.end());
  options.workers = workers;
  options.require = common.required_layers;
  options.without = common.without;
  if (common.heap) options.heap = *common.heap;
  options.early_cells = !common.heap;
  options.borrows_memory = common.borrows_memory;
  options.verifies_rollback = common.verifies_rollback;
  options.warm = common.warm;
  options.log = [](const std::string& line) { write_error_line("zygo: " + line); };
  const sys::Result<std::string> root = images::Store::default_root();
  if (root) options.blobs = *root + "/blobs";
  if (root) set_build_cache(common, *root + "/builds", options);
  if (!common.image.empty()) {
    if (!root) return Refusal{"--image: " + root.error().text()};
    sys::Result<images::Image> image = images::Store(*root).find(common.image);
    if (!image) return Refusal{"--image: " + image.error().text()};
    if (image->config.python)
      return Refusal{"--image: " + common.image +
                     " is a Python environment and no root of its own" +
                     "; give its file to --python"};
    options.image = *std::move(image);
  } else if (images::looks_packed(common.python)) {
    if (!root) return Refusal{"--python: " + root.error().text()};
    if (auto refusal = use_environment(common, *root, stop, options)) return *refusal;
  }

  std::string name = chosen_template(common);
  if (name.empty()) return options;
  if (auto refusal = check_template(name, known)) return *refusal;
  return options;
}

}  // namespace cli
