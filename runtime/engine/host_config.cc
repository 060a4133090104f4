#include "runtime/engine/host_config.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "images/host_image.h"
#include "images/image_root.h"
#include "images/python_environment.h"
#include "runtime/builds/machine_code.h"
#include "runtime/host/library.h"
#include "runtime/scheduler/pools/tenant_templates.h"
#include "sandbox/caps.h"
#include "sandbox/landlock.h"
#include "sandbox/probe/filter.h"
#include "sandbox/probe/ids.h"
#include "sandbox/probe/probe.h"
#include "sandbox/requirements.h"
#include "sandbox/seccomp/seccomp.h"
#include "sandbox/sys/file.h"
#include "shim/protocol.h"

namespace runtime {

using sandbox::Layer;
using sandbox::Layers;
using sys::Error;
using sys::Result;

namespace {

// Host ids for templates, above those that systemd gives to containers (1879048191 is its last) and
// below 2^31.
constexpr uint32_t kFirstHostId = 0x70000000;
constexpr uint32_t kInstances = 4096;
constexpr uint32_t kIdsPerCell = 3;  // where they are the host's: pid 1, job, sweeper

bool may_map_ranges() {
  constexpr sandbox::CapMask kNeeded = sandbox::cap_bit(7) | sandbox::cap_bit(6) |
                                       sandbox::cap_bit(21);  // SETUID, SETGID, SYS_ADMIN
  return ::geteuid() == 0 && (sandbox::permitted_caps() & kNeeded) == kNeeded;
}

// Docker's own filter refuses this. A thread's property, given back.
bool can_fix_addresses() {
  const int before = ::personality(0xffffffff);
  if (before < 0 || ::personality(static_cast<unsigned>(before) | ADDR_NO_RANDOMIZE) < 0)
    return false;
  (void)::personality(static_cast<unsigned>(before));
  return true;
}

}  // namespace

const std::vector<TemplateSpec>& builtin_templates() {
  static const std::vector<TemplateSpec> kTemplates = {{"python", {}, ""},
                                                       {"python-numpy", {"numpy"}, ""},
                                                       {"python-pandas", {"numpy", "pandas"}, ""}};
  return kTemplates;
}

Result<std::unique_ptr<HostConfig>> HostConfig::create(const EngineOptions& options) {
  auto config = std::make_unique<HostConfig>();
  config->heap_ = options.heap;
  config->jobs_at_once_ = options.workers;
  config->borrows_memory_ = options.borrows_memory;
  config->verifies_rollback_ = options.verifies_rollback;
  config->early_cells_ = options.early_cells && options.heap != "plain";
  config->warm_ = options.warm;
  config->share_builds_ = options.share_builds;
  config->core_cookies_ = options.core_cookies;
  config->version_ = options.version;
  if (options.core_cookies) {
    const sandbox::LayerReport found = sandbox::probe_core_scheduling();
    if (!found.available)
      return Error::because("core scheduling: " + found.why + "; cure: " + found.cure);
  }
  config->tenant_templates_ =
      options.tenant_templates > 0 ? options.tenant_templates : affordable_templates();
  config->tenant_idle_ = options.tenant_idle;
  if (!options.builds.empty()) config->builds_.emplace(options.builds, options.builds_capacity);
  TRY(config->find_files(options));
  config->templates_ = TRY(shipped_templates());
  for (const TemplateSpec& spec : options.templates) {
    std::erase_if(config->templates_,
                  [&spec](const TemplateSpec& t) { return t.name == spec.name; });
    config->templates_.push_back(spec);
  }
  for (const TemplateSpec& spec : config->templates_) {
    if (!spec.runtime) continue;
    const std::string root = config->imported_ ? config->imported_->rootfs : "";
    config->toolchains_[spec.name] = find_toolchain(*spec.runtime, root, config->path_of_image());
  }
  config->python_makes_code_ = has_compiling_package(
      config->image_, config->python_, config->imported_ ? config->imported_->rootfs : "");
  config->add_folders();
  config->note_programs();
  const std::vector<sandbox::LayerReport> reports = sandbox::probe_layers();
  TRY(config->choose_level(options, reports));
  TRY(config->choose_ids());
  config->id_slots_ = IdSlots(config->slots_of_ids());
  TRY(config->choose_layers(options, reports));
  if (config->level_ != sandbox::Level::kFull) {
    if (!options.mounts.empty())
      return Error::because("directories can be mounted on level full only");
    const std::optional<images::Image>& mounted =
        config->imported_ ? config->imported_ : options.environment;
    if (mounted)
      return Error::because("image " + mounted->name + ": an image needs mounts, which level " +
                            std::string(sandbox::name_of(config->level_)) + " does not have");
    TRY(config->replace_mounts());
  }
  config->choose_variant();
  config->fixes_addresses_ = can_fix_addresses();
  config->try_fixed_library();
  return config;
}

Result<void> HostConfig::find_files(const EngineOptions& options) {
  const std::string library = TRY(library_directory());
  launcher_ = library + "/zygo-launch";
  if (::access(launcher_.c_str(), X_OK) < 0) return Error::from_errno(launcher_);
  shim_directory_ = library + "/python";
  exec_directory_ = library + "/exec";
  imported_ = options.image;
  if (imported_) return find_in_image(options);
  packages_stamp_ = stamp_of_packages();
  python_ = options.python;
  exec_image_ = images::host_image(exec_directory_);
  for (const std::string& name : options.scratch_names)
    exec_image_.push_back({sandbox::ImageEntry::Kind::kSymlink, name, "/tmp"});
  exec_image_.insert(exec_image_.end(), options.mounts.begin(), options.mounts.end());
  if (options.environment) {
    image_ = TRY(images::environment_image(*options.environment, shim_directory_));
    python_stamp_ = options.environment->digest;
    return {};
  }
  image_ = TRY(images::host_image(python_, shim_directory_));
  for (const std::string& name : options.scratch_names)
    image_.push_back({sandbox::ImageEntry::Kind::kSymlink, name, "/tmp"});
  struct stat info {};
  if (::stat(python_.c_str(), &info) < 0) return Error::from_errno("python " + python_);
  python_stamp_ = std::to_string(info.st_size) + ":" + std::to_string(info.st_mtim.tv_sec);
  return {};
}

// An image without Python serves every template but Python's.
Result<void> HostConfig::find_in_image(const EngineOptions& options) {
  image_ = TRY(images::image_plan(*imported_, shim_directory_));
  exec_image_ = TRY(images::image_plan(*imported_, exec_directory_));
  user_ = TRY(images::user_of(*imported_));
  const bool chosen = options.python != EngineOptions().python;
  auto found = runtime::find_program(chosen ? options.python : "python3", imported_->rootfs,
                                     path_of_image());
  if (chosen && !found)
    return Error::because("image " + imported_->name + ": it has no " + options.python);
  python_ = found.value_or("");
  python_stamp_ = imported_->digest;
  return {};
}

// Adds the folders of packages, where their scripts expect them.
void HostConfig::add_folders() {
  for (const TemplateSpec& spec : templates_) {
    if (!spec.runtime || spec.runtime->folder.empty()) continue;
    const std::string& folder = spec.runtime->folder;
    const auto same = [&folder](const auto& entry) { return entry.target == folder; };
    if (std::none_of(exec_image_.begin(), exec_image_.end(), same))
      exec_image_.push_back({sandbox::ImageEntry::Kind::kBind, folder, folder});
  }
}

std::string_view HostConfig::path_of_image() const {
  constexpr std::string_view kName = "PATH=";
  if (!imported_) return kPath;
  for (const std::string& entry : imported_->config.environment) {
    if (entry.starts_with(kName)) return std::string_view(entry).substr(kName.size());
  }
  return kPath;
}

namespace {

// Three lines: what is missing, what gives it, and what accepts the level that is there.
std::string shortfall(sandbox::Level wanted, std::optional<sandbox::Level> best,
                      const std::vector<std::string_view>& missing,
                      const std::vector<sandbox::LayerReport>& reports) {
  std::vector<std::string> names, cures;
  for (const sandbox::LayerReport& report : reports) {
    if (std::find(missing.begin(), missing.end(), report.name) == missing.end()) continue;
    const bool is_new = std::find(cures.begin(), cures.end(), report.cure) == cures.end();
    names.push_back(is_new ? report.name + " (" + report.why + ")" : report.name);
    if (is_new) cures.push_back(report.cure);
  }
  std::erase(cures, "");
  const std::string_view level = sandbox::name_of(wanted);
  const std::string_view found = best ? sandbox::name_of(*best) : "";
  std::string text =
      fmt::format("this host does not give level {}, {}; missing: {}", level,
                  !best             ? "nor any other"
                  : *best <= wanted ? fmt::format("but level {}, which is more", found)
                                    : fmt::format("but level {}", found),
                  fmt::join(names, ", "));
  if (!cures.empty()) text += fmt::format("\n  to get {}: {}", level, fmt::join(cures, "; "));
  if (best && *best > wanted)
    text += fmt::format("\n  to accept {0}: --require {0}, or ZYGO_REQUIRE={0} in the environment",
                        found);
  return text;
}

}  // namespace

Result<void> HostConfig::choose_level(const EngineOptions& options,
                                      const std::vector<sandbox::LayerReport>& reports) {
  std::optional<sandbox::Level> best = sandbox::best_level(reports);
  const sandbox::Level wanted = options.level.value_or(options.least);
  const std::vector<std::string_view> missing = sandbox::missing_for(wanted, reports);
  // A level that gives more needs other things: an ordinary user may have full and not contained.
  if (options.level ? missing.empty() : best && *best <= wanted) {
    level_ = options.level.value_or(*best);
    if (level_ <= options.least) return {};
    return Error::because("level " + std::string(sandbox::name_of(level_)) + " is less than " +
                          std::string(sandbox::name_of(options.least)) + ", which is required");
  }
  return Error::because(shortfall(wanted, best, missing, reports));
}

// A daemon's own range; where only part of the ids exist (a container with a map, a user with
// subordinate ids), a small one at the end of what is mapped.
Result<void> HostConfig::choose_ids() {
  const bool is_full = level_ == sandbox::Level::kFull;
  if (is_full ? !may_map_ranges() : ::geteuid() != 0) return {};
  ids_ = is_full ? Ids::kMapped : level_ == sandbox::Level::kContained ? Ids::kReal : Ids::kOther;
  UidClaim::Ranges ranges{kFirstHostId, shim::kTemplateIdCount, kInstances};
  const std::string map = TRY(sys::read_file("/proc/self/uid_map"));
  const sandbox::MappedIds mapped = sandbox::largest_range(map);
  if (!mapped.contains(ranges.first, uint64_t{ranges.size} * ranges.count)) {
    const uint64_t half = mapped.count / 2;
    const uint32_t below = is_full ? shim::kFirstCellId : 0;  // no cell has these
    ranges.first = static_cast<uint32_t>(mapped.first + half);
    ranges.size = static_cast<uint32_t>(std::min<uint64_t>(half, below + 2048));
    if (ranges.size < below + 64) {
      return Error::because(fmt::format(
          "user ids: this user namespace has only {} of them; {} would do at level {}, since each "
          "cell has its own",
          mapped.count, 2 * (below + 64), sandbox::name_of(level_)));
    }
    ranges.count = static_cast<uint32_t>(std::min<uint64_t>(half / ranges.size, kInstances));
  }
  uids_ = UidClaim::make(ranges);
  id_base_ = uids_->first();
  id_count_ = ranges.size;
  return {};
}

// Cells that can have ids of their own at once; 0: theirs are not their own.
uint32_t HostConfig::slots_of_ids() const {
  if (ids_ == Ids::kMapped) return (id_count_ - shim::kFirstCellId) / 2;
  return ids_ == Ids::kReal ? id_count_ / kIdsPerCell : 0;
}

Result<CellIds> HostConfig::take_ids() {
  CellIds ids;
  if (user_) ids.inside = *user_;
  if (ids_ == Ids::kOther) ids.reader = ids.owner = id_base_;
  if (ids_ == Ids::kOwn || ids_ == Ids::kOther) return ids;
  std::optional<IdSlots::Lease> slot = id_slots_.take();
  if (!slot) return Error::from_errno("user ids: all are in use by cells", EAGAIN);
  ids.slot = *std::move(slot);
  if (ids_ == Ids::kMapped) {
    ids.init = shim::kFirstCellId + 2 * ids.slot.number();
    ids.job = ids.init + 1;
    ids.owner = id_base_ + ids.job;
  } else {
    ids.init = id_base_ + kIdsPerCell * ids.slot.number();
    ids.job = ids.init + 1;
    ids.sweeper = ids.init + 2;
    ids.reader = ids.owner = ids.job;
  }
  return ids;
}

Result<void> HostConfig::replace_mounts() {
  scratch_.emplace(TRY(ScratchRoot::create()));
  // Executed programs may read all that Python's may, but for an interpreter elsewhere.
  images::HostPaths paths = images::paths_of(exec_image_);
  for (const std::string& path : images::paths_of(image_).readable) {
    if (std::find(paths.readable.begin(), paths.readable.end(), path) == paths.readable.end())
      paths.readable.push_back(path);
  }
  for (const std::string& path : paths.readable) readable_.push_back(TRY(sys::open(path, O_PATH)));
  if (auto library = sys::open(fixed_library(), O_PATH); library.ok())
    readable_.push_back(std::move(library).value());
  for (const std::string& path : paths.devices) devices_.push_back(TRY(sys::open(path, O_PATH)));
  return {};
}

Result<Scratch> HostConfig::make_scratch(uint64_t cell, const CellIds& ids) const {
  std::optional<ScratchOwner> owner;
  if (ids_ == Ids::kReal) owner = {ids.init, ids.job};
  if (ids_ == Ids::kOther) owner = {id_base_, id_base_};
  return scratch_->make(cell, owner);
}

Result<sys::OwnedFd> HostConfig::make_ruleset(const Scratch& scratch, bool executable) const {
  sandbox::LandlockRules rules;
  for (const sys::OwnedFd& fd : readable_) rules.readable.push_back(fd.get());
  for (const sys::OwnedFd& fd : devices_) rules.devices.push_back(fd.get());
  rules.scratch = {scratch.fd()};
  using InScratch = sandbox::LandlockRules::Execution;
  rules.in_scratch = executable ? InScratch::kAllowed : InScratch::kDenied;
  return sandbox::make_ruleset(rules);
}

// Chooses what the filter makes up for, or must say in another way.
void HostConfig::choose_variant() {
  variant_.masked = sandbox::masked_calls();
  variant_.masked_clone_flags = sandbox::clone_flags_masked();
  variant_.count_processes = !layers_.has(Layer::kCgroupPids);
  variant_.count_memfds = !layers_.has(Layer::kCgroupMemory);
  variant_.count_pipes = level_ == sandbox::Level::kMinimal || ids_ == Ids::kOwn;
  variant_.shared_uid = level_ == sandbox::Level::kMinimal;
  variant_.dumpable = level_ != sandbox::Level::kFull;
  variant_.shared_files = has_directories();
  variant_.shared_pids = !layers_.has(Layer::kPidNs) && !layers_.has(Layer::kUserNs);
}

Result<void> HostConfig::choose_layers(const EngineOptions& options,
                                       const std::vector<sandbox::LayerReport>& reports) {
  const Layers may = sandbox::layers_of(level_);
  outer_oom_ = sandbox::OuterOom::open();  // before we move to a group of our own making
  cgroups_.emplace(sandbox::CgroupRoot::create());
  const Result<sandbox::CellCgroup> trial = sandbox::CellCgroup::create(*cgroups_, "trial");
  const uint32_t given = trial ? trial->layers().bits() : 0;
  layers_ = Layers::from_bits((sandbox::available_layers(reports).bits() | given) & may.bits());
  // With a single id the job has pid 1's uid: Landlock and the filter stand between them.
  if (ids_ == Ids::kOwn) layers_ = layers_.without(Layer::kUid);
  layers_ = Layers::from_bits(layers_.bits() & ~options.without.bits());
  for (unsigned i = 0; i < sandbox::kLayerCount; ++i) {
    Layer layer = static_cast<Layer>(i);
    if (options.require.has(layer) && !layers_.has(layer)) {
      std::string why = "this host does not give layer " + std::string(sandbox::name_of(layer));
      for (const sandbox::LayerReport& report : sandbox::probe_host(&*cgroups_)) {
        if (report.name == sandbox::name_of(layer) && !report.why.empty())
          why += ": " + report.why + "; " + report.cure;
      }
      return Error::because(why);
    }
  }
  return {};
}

std::string HostConfig::unmet(const std::vector<std::string>& required) const {
  return sandbox::unmet(level_, layers_, required);
}

bool HostConfig::borrows_memory(const TemplateSpec& spec, const CellShape& shape) const {
  return borrows_memory_ && shape.may_borrow && (spec.runtime || !makes_code(spec)) &&
         !shape.runs_programs() && !shape.observe &&
         rollbacks_.is_trusted(spec.name, sys::monotonic_now());
}

Result<std::string_view> HostConfig::filter(sandbox::Profile profile, bool makes_code,
                                            bool borrows_memory) {
  std::lock_guard lock(filter_mutex_);
  std::optional<std::string>& slot =
      filters_[4 * static_cast<size_t>(profile) + 2 * size_t{borrows_memory} + makes_code];
  sandbox::FilterVariant variant = variant_;
  variant.makes_code = makes_code;
  variant.borrows_memory = borrows_memory;
  if (!slot) slot = TRY(sandbox::compile_filter(profile, variant));
  return std::string_view(*slot);
}

Result<std::string_view> HostConfig::observer_filter() {
  std::lock_guard lock(filter_mutex_);
  if (!observer_filter_) observer_filter_ = TRY(sandbox::compile_observer(shim::kCellSocketFd));
  return std::string_view(*observer_filter_);
}

}  // namespace runtime
