#pragma once
// Probes the host: each layer is tried for real in a short-lived child, and reported as present or
// absent with evidence and a cure. Called at start-up and by `zygo doctor`; safe in a process with
// threads (children use async-signal-safe calls only), bounded in time, leaves nothing behind.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy.h"

namespace sandbox {

class CgroupRoot;

struct LayerReport {
  // The wire name of a Layer, or one of the abilities that layers and levels build on:
  // "userns.unprivileged", "idmap.range", "proc", "chroot", "landlock.scope", "seccomp.notify",
  // "ptrace.read", "clone3", "pidfd", "oom_score_adj", "cpu policy", "core scheduling".
  std::string name;
  bool available = false;
  std::string why;   // the evidence, or what said no
  std::string cure;  // empty when available
  // The kernel has it, whether or not we may use it; nothing: it cannot be told from in here.
  std::optional<bool> kernel = {};
};

// `running` is the daemon's group if it has made one: its findings count then, because a process
// can try for groups of its own only before it has moved.
std::vector<LayerReport> probe_host(const CgroupRoot* running = nullptr);

// The probes that a start waits for: the layers that need no cgroup, and the abilities they need.
// Tried together first, in a few children; one by one only where something is missing.
std::vector<LayerReport> probe_layers();

// Tells whether templates can have cookies, which no level needs and nobody has who does not ask.
LayerReport probe_core_scheduling();

Layers available_layers(const std::vector<LayerReport>& reports);

// True for a row of the report at a level: a layer that the level may put in force, or an ability
// that such a layer needs.
bool counts_at(Level level, std::string_view name);

// The names of what a level needs and the reports deny. Empty: the level can be had.
std::vector<std::string_view> missing_for(Level level, const std::vector<LayerReport>& reports);
std::optional<Level> best_level(const std::vector<LayerReport>& reports);

}  // namespace sandbox
