#include "sandbox/probe/probe.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

#include "sandbox/cgroup/cgroup.h"
#include "sandbox/cgroup/file.h"
#include "sandbox/landlock.h"
#include "sandbox/probe/child.h"
#include "sandbox/probe/cures.h"
#include "sandbox/probe/facts.h"
#include "sandbox/probe/ids.h"
#include "sandbox/sys/file.h"

namespace sandbox {

namespace {

std::optional<long> sysctl(const std::string& name) {
  sys::Result<std::string> text = sys::read_file("/proc/sys/" + name);
  long value = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc{}) {
    return std::nullopt;
  }
  return value;
}

HostHints hints_of_host() {
  return {.at = location_of(clues_of_host()),
          .unprivileged_userns_clone = sysctl("kernel/unprivileged_userns_clone"),
          .apparmor_restricts_userns = sysctl("kernel/apparmor_restrict_unprivileged_userns"),
          .max_user_namespaces = sysctl("user/max_user_namespaces")};
}

std::string sentence(const ProbeAnswer& answer) {
  return std::string(answer.step) + ": " + std::strerror(answer.error);
}

// Collects the reports, in the order in which they are read by people.
class Survey {
 public:
  void add(std::string name, const ProbeAnswer& answer, std::string evidence) {
    if (!answer.ok()) return add_denied(std::move(name), sentence(answer), answer.error);
    reports_.push_back({std::move(name), true, std::move(evidence), "", true});
  }
  void add_denied(std::string name, std::string why, int error = 0) {
    std::string cure = cure_for(name, error, hints_);
    std::optional<bool> kernel = kernel_has(name, error, facts_);
    reports_.push_back({std::move(name), false, std::move(why), std::move(cure), kernel});
  }
  // Cells make theirs inside a user namespace; a host that forbids that may still allow it to root.
  void add_namespace(std::string_view name, ProbeFunction trial, int flag) {
    using Where = NamespaceTrial::Where;
    NamespaceTrial inside{.flag = flag, .where = Where::kUserNamespace};
    NamespaceTrial here{.flag = flag, .where = Where::kHere};
    ProbeAnswer nested = run_in_child(trial, &inside);
    if (nested.ok()) return add(std::string(name), nested, "inside a user namespace");
    ProbeAnswer direct = run_in_child(trial, &here);
    if (!direct.ok()) return add(std::string(name), nested, "");
    add(std::string(name), direct, "directly; inside a user namespace: " + sentence(nested));
  }
  // False: not all of it works, and each is to be tried by itself.
  bool add_together(std::span<const std::string_view> names, const ProbeAnswer& answer) {
    if (!answer.ok()) return false;
    for (std::string_view name : names) add(std::string(name), answer, "tried with the others");
    return true;
  }
  const HostHints& hints() const { return hints_; }
  std::vector<LayerReport> take() { return std::move(reports_); }

 private:
  HostHints hints_ = hints_of_host();
  KernelFacts facts_ = facts_of_kernel();
  std::vector<LayerReport> reports_;
};

SpareIds spare_ids_of_host() {
  SpareIds ids;
  sys::Result<std::string> uids = sys::read_file("/proc/self/uid_map");
  sys::Result<std::string> gids = sys::read_file("/proc/self/gid_map");
  if (uids) ids.uid = spare_id(*uids).value_or(ids.uid);
  if (gids) ids.gid = spare_id(*gids).value_or(ids.gid);
  return ids;
}

void survey_ids(Survey& survey) {
  const SpareIds ids = spare_ids_of_host();
  const ProbeAnswer range = run_in_child(try_map_range, &ids);
  survey.add("idmap.range", range, "two ids mapped, the second one used");
  if (range.ok()) return survey.add("uid", range, "by mapping a range of ids");
  survey.add("uid", run_in_child(try_another_uid, &ids), "another uid, ended by a signal");
}

void survey_namespaces(Survey& survey) {
  const NamespaceTrial alone{};
  survey.add("userns", run_in_child(try_namespace, &alone), "one id mapped to 0");
  survey.add_namespace(name_of(Layer::kPidNs), try_namespace, CLONE_NEWPID);
  survey.add_namespace(name_of(Layer::kMountNs), try_namespace, CLONE_NEWNS);
  survey.add_namespace(name_of(Layer::kNetNs), try_namespace, CLONE_NEWNET);
  survey.add_namespace(name_of(Layer::kIpcNs), try_namespace, CLONE_NEWIPC);
  survey.add_namespace(name_of(Layer::kUtsNs), try_namespace, CLONE_NEWUTS);
  survey.add_namespace(name_of(Layer::kCgroupNs), try_namespace, CLONE_NEWCGROUP);
  survey.add_namespace(name_of(Layer::kScratch), try_scratch, CLONE_NEWNS);
}

using Ruleset = sys::Result<sys::OwnedFd>;

void survey_ruleset(Survey& survey, const Ruleset& ruleset, const char* name, ProbeFunction trial,
                    std::string evidence) {
  if (!ruleset) return survey.add_denied(name, ruleset.error().text(), ruleset.error().code());
  const int fd = ruleset->get();
  survey.add(name, run_in_child(trial, &fd), std::move(evidence));
}

void survey_confinement(Survey& survey, const Ruleset& ruleset) {
  survey_ruleset(survey, ruleset, "landlock", try_landlock,
                 "ABI " + std::to_string(landlock_abi()) + ", enforced");
  survey.add("seccomp", run_in_child(try_seccomp), "a filter refused a call");
  survey.add("seccomp.notify", run_in_child(try_notification), "a notification was answered");
  survey.add("caps", run_in_child(try_drop_caps), "dropped, none left");
  survey.add("nnp", run_in_child(try_no_new_privs), "set");
  survey.add("rlimits", run_in_child(try_rlimits), "lowered");
  survey.add("fds", run_in_child(try_close_range), "close_range works");
}

// No layer by themselves; some are ways to one, others are told for those who ask.
void survey_abilities(Survey& survey, const Ruleset& ruleset) {
  const SpareIds ids = spare_ids_of_host();
  if (survey.hints().at.root) {
    survey.add("userns.unprivileged", run_in_child(try_unprivileged_user_namespace, &ids),
               "made by uid " + std::to_string(ids.uid));
  }
  survey.add("proc", run_in_child(try_fresh_proc), "fresh, in a new pid namespace");
  survey.add("chroot", run_in_child(try_chroot), "done");
  survey_ruleset(survey, ruleset, "landlock.scope", try_landlock_scope, "a signal was refused");
  survey.add("ptrace.read", run_in_child(try_read_job, &ids), "a child's memory was read");
  survey.add("clone3", run_in_child(try_clone3), "with a pidfd");
  survey.add("pidfd", run_in_child(try_pidfd), "clone, signal and wait");
  survey.add("cpu policy", run_in_child(try_sched_idle), "SCHED_IDLE");
  survey.add("oom_score_adj", run_in_child(try_oom_score), "raised and taken back");
  survey.add("core scheduling", run_in_child(try_core_scheduling), "a cookie of its own");
}

void report_cgroups(Survey& survey, const CgroupRoot& root, Layers usable) {
  for (Layer layer : {Layer::kCgroupMemory, Layer::kCgroupPids, Layer::kCgroupCpu}) {
    std::string name(name_of(layer));
    if (usable.has(layer)) {
      const CgroupLayout& layout = root.layout();
      const auto& where = layer == Layer::kCgroupMemory ? layout.memory
                          : layer == Layer::kCgroupPids ? layout.pids
                                                        : layout.cpu;
      survey.add(name, {},
                 std::string(where->v2 ? "v2" : "v1") + ", below " +
                     where->path.substr(0, where->path.rfind('/')));
    } else {
      survey.add_denied(name, root.obstacle(layer));
    }
  }
}

// In this process, not in a child: it needs the allocator. The groups are gone at the end.
void survey_cgroups(Survey& survey, const CgroupRoot* running) {
  if (running) return report_cgroups(survey, *running, running->layers());
  sys::Result<CgroupLayout> own = detect_own_cgroups();
  CgroupRoot root = CgroupRoot::create_in(own ? *own : CgroupLayout{},
                                          "zygo-" + std::to_string(::getpid()) + "-probe");
  sys::Result<CellCgroup> cell = CellCgroup::create(root, "cell");
  if (cell) return report_cgroups(survey, root, cell->layers());
  for (Layer layer : {Layer::kCgroupMemory, Layer::kCgroupPids, Layer::kCgroupCpu}) {
    survey.add_denied(std::string(name_of(layer)), cell.error().text());
  }
}

bool is_available(const std::vector<LayerReport>& reports, std::string_view name) {
  return std::any_of(reports.begin(), reports.end(), [name](const LayerReport& report) {
    return report.available && report.name == name;
  });
}

std::vector<std::string_view> needs_of(Level level) {
  switch (level) {
    case Level::kFull:
      return {"userns", "pidns", "mntns", "netns", "ipcns", "utsns", "seccomp", "seccomp.notify"};
    case Level::kContained:
      return {"uid", "landlock", "seccomp", "seccomp.notify"};
    case Level::kMinimal:
      return {"landlock", "seccomp", "seccomp.notify"};
  }
  return {};
}

}  // namespace

std::vector<LayerReport> probe_host(const CgroupRoot* running) {
  Survey survey;
  const Ruleset ruleset = make_ruleset({});
  survey_namespaces(survey);
  survey_ids(survey);
  survey_cgroups(survey, running);
  survey_confinement(survey, ruleset);
  survey_abilities(survey, ruleset);
  return survey.take();
}

std::vector<LayerReport> probe_layers() {
  constexpr std::string_view kTogether[] = {"userns", "pidns", "mntns",    "netns",
                                            "ipcns",  "utsns", "cgroupns", "scratch"};
  constexpr std::string_view kConfinement[] = {
      "landlock", "seccomp", "seccomp.notify", "caps", "nnp", "rlimits", "fds"};
  Survey survey;
  const Ruleset ruleset = make_ruleset({});
  if (!survey.add_together(kTogether, run_in_child(try_all_namespaces))) survey_namespaces(survey);
  survey_ids(survey);
  const int fd = ruleset ? ruleset->get() : -1;
  if (!ruleset || !survey.add_together(kConfinement, run_in_child(try_confinement, &fd)))
    survey_confinement(survey, ruleset);
  return survey.take();
}

LayerReport probe_core_scheduling() {
  Survey survey;
  survey.add("core scheduling", run_in_child(try_core_scheduling), "a cookie of its own");
  return survey.take().front();
}

Layers available_layers(const std::vector<LayerReport>& reports) {
  Layers found;
  for (const LayerReport& report : reports) {
    std::optional<Layer> layer = layer_named(report.name);
    if (layer && report.available) found = found.with(*layer);
  }
  return found;
}

bool counts_at(Level level, std::string_view name) {
  if (std::optional<Layer> layer = layer_named(name)) return layers_of(level).has(*layer);
  // Told for those who ask; no level is built on them.
  if (name == "chroot" || name == "core scheduling") return false;
  bool of_namespaces = name.starts_with("userns") || name == "idmap.range" || name == "proc";
  return !of_namespaces || level == Level::kFull;
}

std::vector<std::string_view> missing_for(Level level, const std::vector<LayerReport>& reports) {
  std::vector<std::string_view> missing = needs_of(level);
  std::erase_if(missing, [&](std::string_view name) { return is_available(reports, name); });
  return missing;
}

std::optional<Level> best_level(const std::vector<LayerReport>& reports) {
  for (Level level : kLevels) {
    if (missing_for(level, reports).empty()) return level;
  }
  return std::nullopt;
}

}  // namespace sandbox
