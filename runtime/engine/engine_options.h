#pragma once
// EngineOptions: how an engine is made, and the templates that come with it. Plain values.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "images/store.h"
#include "runtime/builds/template_spec.h"
#include "sandbox/mounts/mounts.h"
#include "sandbox/policy.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace runtime {

// Runs a program of the image by its name or path, which is the job's source; with an empty one,
// the image's own entrypoint and command.
inline constexpr const char* kCommandTemplate = "command";
// "python", "python-numpy", "python-pandas".
const std::vector<TemplateSpec>& builtin_templates();
// Those, `command`, and one for each runtime that comes with zygo. An error: a file of them cannot
// be read.
sys::Result<std::vector<TemplateSpec>> shipped_templates();

struct EngineOptions {
  std::string version;                      // of zygo, for records
  std::string python = "/usr/bin/python3";  // with an image: of its own, if it was left at this
  std::string blobs;                        // root of the blob store; empty: there is none
  std::string builds;                       // root of the build cache; empty: there is none
  sys::Bytes builds_capacity{};
  std::optional<images::Image> image;  // what jobs see; none: the host's own /usr
  // A packed environment, whose interpreter `python` then is; not together with `image`.
  std::optional<images::Image> environment;
  // The mounts that executed programs see beside the image; they need level full.
  sandbox::ImagePlan mounts;
  std::vector<TemplateSpec> templates;  // in addition to the built-in ones
  unsigned workers = 0;                 // cells that may run a job at once; 0: chosen by cores
  std::optional<sandbox::Level> level;  // this one; empty: the best there is
  sandbox::Level least = sandbox::Level::kFull;  // and never less than this
  sandbox::Layers require;                       // layers without which no job starts
  // plain, moved, merged or huge: how templates keep their memory (shim/heap/image.h). All give the
  // same results; plain is the twin that tests compare with.
  std::string heap = "huge";
  // Jobs that run in their template's interpreter borrow the memory of their cell and it is rolled
  // back after each, where the host allows it; false: each is a fork.
  bool borrows_memory = true;
  bool verifies_rollback = false;  // and all of it is compared with its first state, which is slow
  // While a template makes its image, a cell that it forked before serves what waits already.
  bool early_cells = true;
  // Paths at which programs on the host's own files find their scratch, too; only with mounts.
  std::vector<std::string> scratch_names;
  // Templates that are kept warm for tenants, the common one apart; 0: chosen by memory. Never
  // fewer than the workers need at once.
  size_t tenant_templates = 0;
  sys::Milliseconds tenant_idle{300'000};  // one of a tenant that nobody used for so long goes
  sys::Bytes nodes_memory = sys::mebibytes(1024);  // that the nodes of all sessions may take
  std::string nodes_disk;  // a folder for what they have beyond that; empty: none
  sys::Bytes nodes_disk_size = sys::mebibytes(8192);       // that they may take there
  sys::Nanoseconds nodes_idle = std::chrono::minutes(30);  // a node that nobody used so long goes
  sys::Nanoseconds steps_stay = std::chrono::seconds(1);  // a step's process, for the next; 0: none
  bool share_builds = false;  // a tenant's compiled program serves all of them
  // Processes of two templates never run on one core's hardware threads at the same time, so those
  // of two tenants do not, nor a job beside the daemon. An error where the host has no cookies.
  bool core_cookies = false;
  bool warm = true;  // false: interpreters other than Python's start with each job, as a reference
  sandbox::Layers without;  // for tests of the layers: taken out on purpose
  // One line, from any thread, for each step in which the pool shrinks for want of room or grows
  // back.
  std::function<void(const std::string&)> log;
};

}  // namespace runtime
