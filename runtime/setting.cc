#include "runtime/setting.h"

#include <limits.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "images/host_image.h"
#include "sandbox/caps.h"
#include "sandbox/probe.h"
#include "sandbox/seccomp.h"
#include "shim/protocol.h"

namespace runtime {

using sandbox::Layer;
using sandbox::Layers;
using sys::Error;
using sys::Result;

namespace {

// Host ids for templates, above those that systemd gives to containers (1879048191 is its last) and
// below 2^31. Instances are told apart by pid, so that two of them rarely share a uid.
constexpr uint32_t kFirstHostId = 0x70000000;

std::string sha256_hex(const std::string& text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  VERIFY(EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr) == 1);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[digest[i] >> 4];
    hex += kDigits[digest[i] & 15];
  }
  return hex;
}

Result<std::string> own_directory() {
  char path[PATH_MAX];
  ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  if (n < 0) return Error::from_errno("readlink /proc/self/exe");
  std::string self(path, static_cast<size_t>(n));
  return self.substr(0, self.rfind('/'));
}

bool may_map_ranges() {
  constexpr sandbox::CapMask kNeeded = sandbox::cap_bit(7) | sandbox::cap_bit(6) |
                                       sandbox::cap_bit(21);  // SETUID, SETGID, SYS_ADMIN
  return ::geteuid() == 0 && (sandbox::permitted_caps() & kNeeded) == kNeeded;
}

}  // namespace

const std::vector<TemplateSpec>& builtin_templates() {
  static const std::vector<TemplateSpec> kTemplates = {{"python", {}, ""},
                                                       {"python-numpy", {"numpy"}, ""},
                                                       {"python-pandas", {"numpy", "pandas"}, ""}};
  return kTemplates;
}

Result<std::unique_ptr<Setting>> Setting::create(const EngineOptions& options) {
  auto setting = std::make_unique<Setting>();
  if (options.level != sandbox::Level::kFull) {
    return Error::because(
        "level " + std::string(sandbox::name_of(options.level)) +
        " is not built yet; only full is (zygo doctor shows what this host gives)");
  }
  setting->heap_ = options.heap;
  TRY(setting->find_files(options));
  if (may_map_ranges()) {
    setting->id_base_ =
        kFirstHostId + (static_cast<uint32_t>(::getpid()) % 2048) * shim::kTemplateIdCount;
    setting->id_count_ = shim::kTemplateIdCount;
  }
  setting->templates_ = builtin_templates();
  for (const TemplateSpec& spec : options.templates) {
    std::erase_if(setting->templates_,
                  [&spec](const TemplateSpec& t) { return t.name == spec.name; });
    setting->templates_.push_back(spec);
  }
  TRY(setting->choose_layers(options));
  return setting;
}

Result<void> Setting::find_files(const EngineOptions& options) {
  std::string library = TRY(own_directory()) + "/../lib/zygo";
  char resolved[PATH_MAX];
  if (!::realpath(library.c_str(), resolved))
    return Error::from_errno("the shim's directory " + library);
  launcher_ = std::string(resolved) + "/zygo-launch";
  if (::access(launcher_.c_str(), X_OK) < 0) return Error::from_errno(launcher_);
  python_ = options.python;
  image_ = TRY(images::host_image(python_, std::string(resolved) + "/python"));
  struct stat info {};
  if (::stat(python_.c_str(), &info) < 0) return Error::from_errno("python " + python_);
  python_stamp_ = std::to_string(info.st_size) + ":" + std::to_string(info.st_mtim.tv_sec);
  return {};
}

Result<void> Setting::choose_layers(const EngineOptions& options) {
  std::vector<sandbox::LayerReport> reports = sandbox::probe_host();
  std::optional<sandbox::Level> best = sandbox::best_level(reports);
  if (best != sandbox::Level::kFull) {
    std::string missing;
    for (const sandbox::LayerReport& report : reports) {
      if (!report.available && !report.cure.empty())
        missing += "\n  " + report.name + ": " + report.why + "; " + report.cure;
    }
    return Error::because("this host does not give level full; what is missing:" + missing);
  }
  layers_ = sandbox::available_layers(reports);
  cgroups_.emplace(sandbox::CgroupRoot::create());
  Layers given = cgroups_->layers();
  for (Layer layer : {Layer::kCgroupMemory, Layer::kCgroupPids, Layer::kCgroupCpu}) {
    if (!given.has(layer)) layers_ = layers_.without(layer);
  }
  // With a single id the job has pid 1's uid: Landlock and the filter stand between them.
  if (!maps_ranges()) layers_ = layers_.without(Layer::kUid);
  layers_ = Layers::from_bits(layers_.bits() & ~options.without.bits());
  for (unsigned i = 0; i < sandbox::kLayerCount; ++i) {
    Layer layer = static_cast<Layer>(i);
    if (options.require.has(layer) && !layers_.has(layer)) {
      std::string why = "this host does not give layer " + std::string(sandbox::name_of(layer));
      for (const sandbox::LayerReport& report : reports) {
        if (report.name == sandbox::name_of(layer) && !report.why.empty())
          why += ": " + report.why + "; " + report.cure;
      }
      return Error::because(why);
    }
  }
  return {};
}

std::string Setting::unmet(const std::vector<std::string>& required) const {
  for (const std::string& name : required) {
    if (std::optional<Layer> layer = sandbox::layer_named(name); layer && !layers_.has(*layer))
      return "layer " + name;
    if (std::optional<sandbox::Level> level = sandbox::level_named(name); level && level_ > *level)
      return "level " + name;
  }
  return {};
}

const TemplateSpec* Setting::find_template(const std::string& name) const {
  auto found = std::find_if(templates_.begin(), templates_.end(),
                            [&name](const TemplateSpec& t) { return t.name == name; });
  return found == templates_.end() ? nullptr : &*found;
}

std::string Setting::template_names() const {
  std::string names;
  for (const TemplateSpec& spec : templates_) names += (names.empty() ? "" : ", ") + spec.name;
  return names;
}

ZygotePlan Setting::zygote_plan(const TemplateSpec& spec, unsigned seed) const {
  ZygotePlan plan;
  plan.name = spec.name;
  plan.seed = seed;
  plan.launcher = launcher_;
  plan.python = python_;
  plan.preloads = spec.preloads;
  plan.setup = spec.setup;
  plan.heap = heap_;
  plan.image = image_;
  plan.layers = layers_;
  plan.id_base = id_base_;
  plan.id_count = id_count_;
  std::string content =
      python_ + '\0' + python_stamp_ + '\0' + spec.setup + '\0' + images::plan_text(image_);
  for (const std::string& module : spec.preloads) content += module + '\0';
  plan.identity = spec.name + "@sha256:" + sha256_hex(content);
  return plan;
}

Result<std::string_view> Setting::filter(sandbox::Profile profile) {
  std::lock_guard lock(filter_mutex_);
  std::optional<std::string>& slot = filters_[static_cast<size_t>(profile)];
  if (!slot) slot = TRY(sandbox::compile_filter(profile));
  return std::string_view(*slot);
}

}  // namespace runtime
