// Templates: which there are, and how each is started.

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "images/host_image.h"
#include "images/image_root.h"
#include "images/sha256.h"
#include "runtime/builds/machine_code.h"
#include "runtime/engine/host_config.h"
#include "runtime/host/preload.h"
#include "sandbox/sys/fd.h"
#include "shim/fixed/fixed.h"
#include "shim/protocol.h"

namespace runtime {

const TemplateSpec* HostConfig::find_template(const std::string& name) const {
  auto found = std::find_if(templates_.begin(), templates_.end(), [&name](const TemplateSpec& t) {
    return t.name == name || (t.runtime && t.runtime->goes_by(name));
  });
  return found == templates_.end() ? nullptr : &*found;
}

const Toolchain& HostConfig::toolchain_of(const TemplateSpec& spec) const {
  return toolchains_.at(spec.name);
}

void HostConfig::note_programs() {
  const std::string root = imported_ ? imported_->rootfs : "";
  auto note = [this, &root](const std::string& path, KnownProgram::Use use,
                            const RuntimeSpec* language) {
    if (!path.empty()) known_programs_.push_back({target_of(path, root), use, language});
  };
  note(python_, KnownProgram::Use::kRuns, nullptr);
  for (const TemplateSpec& spec : templates_) {
    if (!spec.runtime) continue;
    const Toolchain& tools = toolchain_of(spec);
    note(tools.run, KnownProgram::Use::kRuns, spec.runtime.get());
    note(tools.compile, KnownProgram::Use::kCompiles, spec.runtime.get());
  }
}

std::optional<std::string> HostConfig::find_program(const std::string& word) const {
  return runtime::find_program(word, imported_ ? imported_->rootfs : "", path_of_image());
}

CommandRule HostConfig::rule_of_command(const std::string& program) const {
  const std::string root = imported_ ? imported_->rootfs : "";
  return runtime::rule_of_command(target_of(program, root), known_programs_);
}

// A build outlives the process: also what its tools find beside them counts, as headers and
// libraries, and the place that paths in it speak of.
std::string HostConfig::identity_of_build(const TemplateSpec& spec) const {
  return toolchain_of(spec).stamp + '\0' + (imported_ ? imported_->digest : packages_stamp_) +
         '\0' + std::string(sandbox::name_of(level_)) + '\0';
}

// That one is found says that somebody compiled these very bytes, and who waits for a build learns
// that it is under way.
std::string HostConfig::build_key(std::string key, const std::string& tenant) const {
  if (tenant.empty() || share_builds_) return key;
  return images::sha256_of("tenant\n" + images::sha256_of(tenant) + key);
}

std::string HostConfig::template_names() const {
  std::string names;
  for (const TemplateSpec& spec : templates_) {
    if (spec.runtime && !toolchain_of(spec).missing.empty()) continue;
    names += (names.empty() ? "" : ", ") + spec.name;
  }
  return names;
}

ZygotePlan HostConfig::zygote_plan(const TemplateSpec& spec, TemplateVariant variant) const {
  ZygotePlan plan;
  plan.name = spec.name;
  plan.seed = variant.seed;
  plan.launcher = launcher_;
  plan.heap = heap_;
  plan.image = spec.runtime ? exec_image_ : image_;
  if (!spec.setup.empty())
    plan.image.push_back({sandbox::ImageEntry::Kind::kBind, images::kSetupTarget, spec.setup});
  plan.layers = layers_;
  if (ids_ == Ids::kMapped) {
    plan.id_base = id_base_;
    plan.id_count = id_count_;
  }
  plan.proc = spec.runtime != nullptr;
  plan.core_cookie = core_cookies_;
  plan.plain = level_ != sandbox::Level::kFull;
  plan.run_as = ids_ == Ids::kOther ? id_base_ : 0;
  plan.command = command_of(spec, plan.plain, variant.fixed);
  if (variant.fixed) plan.fixed = fixed_library();
  if (imported_) plan.environment = imported_->config.environment;
  if (is_warm(spec) && !variant.fixed) {
    // Without an image /tmp is everybody's, and an interpreter may load what lies in its home.
    if (plan.plain) plan.environment.emplace_back("HOME=/nonexistent");
    for (const auto& [name, value] : spec.runtime->env)
      plan.environment.push_back(name + "=" + value);
  }
  plan.identity = identity_of(spec);
  return plan;
}

// At level full it lies beside the shim of every template, elsewhere where it was installed.
std::string HostConfig::fixed_library() const {
  const bool plain = level_ != sandbox::Level::kFull;
  return (plain ? exec_directory_ : images::kShimTarget) + '/' + shim::kFixedLibrary;
}

// At level full templates and programs see it in a place of ours. Elsewhere programs have ids of
// their own when they load it, and so has a template where all jobs have one.
void HostConfig::try_fixed_library() {
  if (level_ == sandbox::Level::kFull) {
    for (const std::string& folder : {exec_directory_, shim_directory_}) {
      const std::string file = folder + '/' + shim::kFixedLibrary;
      if (::access(file.c_str(), R_OK) < 0)
        fixed_objection_of_programs_ = sys::Error::from_errno(file).text();
    }
    return;
  }
  const std::string library = fixed_library();
  const bool is_ours = ids_ == Ids::kOwn;
  fixed_objection_of_programs_ =
      objection_to_preload(library, is_ours ? Reader::kOurselves : Reader::kOthers);
  fixed_objection_ = ids_ == Ids::kOther ? fixed_objection_of_programs_
                                         : objection_to_preload(library, Reader::kOurselves);
}

std::string HostConfig::objection_to_fixed_mode(bool starts) const {
  return starts ? fixed_objection_of_programs_ : fixed_objection_;
}

// We do not know whether it can be loaded into the programs of an imported image.
std::string HostConfig::preload_of_programs() const { return imported_ ? "" : fixed_library(); }

bool HostConfig::is_dynamic(const std::string& program) const {
  const sys::OwnedFd file(
      ::open(((imported_ ? imported_->rootfs : "") + program).c_str(), O_RDONLY | O_CLOEXEC));
  return is_dynamic_program(file.get());
}

std::vector<std::string> HostConfig::command_of(const TemplateSpec& spec, bool plain,
                                                bool fixed) const {
  const std::string& own = spec.runtime ? exec_directory_ : shim_directory_;
  const std::string shim = plain ? own : std::string(images::kShimTarget);
  if (is_warm(spec) && !fixed) {
    std::vector<std::string> words = {shim + "/zygo-exec", "--warm", spec.runtime->file,
                                      toolchain_of(spec).run};
    words.insert(words.end(), spec.runtime->run.begin(), spec.runtime->run.end());
    return words;
  }
  if (spec.runtime) return {shim + "/zygo-exec"};
  return {python_,
          "-s",
          "-B",
          shim + "/bootstrap.py",
          std::to_string(shim::kControlFd),
          fmt::format("{}", fmt::join(spec.preloads, ",")),
          spec.setup.empty() || plain ? spec.setup : images::kSetupTarget};
}

// Nobody knows what the programs of the image are that commands name.
bool HostConfig::makes_code(const TemplateSpec& spec) const {
  if (!spec.runtime) return python_makes_code_;
  return spec.runtime->jit || spec.name == kCommandTemplate;
}

// We do not know whether our library can be loaded in an imported image.
bool HostConfig::is_warm(const TemplateSpec& spec) const {
  return warm_ && !imported_ && spec.runtime && spec.runtime->warm;
}

// Everything that makes a template what it is.
std::string HostConfig::content_of(const TemplateSpec& spec) const {
  if (spec.runtime) {
    return spec.runtime->digest + '\0' + toolchain_of(spec).stamp + '\0' +
           (imported_ ? imported_->digest : images::plan_text(exec_image_));
  }
  std::string content =
      python_ + '\0' + python_stamp_ + '\0' + spec.setup_digest + '\0' + images::plan_text(image_);
  for (const std::string& module : spec.preloads) content += module + '\0';
  return content;
}

}  // namespace runtime
