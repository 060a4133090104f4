#pragma once
// The default image: a read-only view of the host's own /usr and of what the chosen interpreter
// needs, nothing else. Made in the daemon, before a template starts; carried out by the launcher.

#include <string>
#include <vector>

#include "sandbox/mounts/mounts.h"
#include "sandbox/sys/result.h"

namespace images {

// `python` is the interpreter's absolute path; `shim` the host directory with bootstrap and module,
// which appears as kShimTarget. An interpreter outside /usr is asked where its files lie.
sys::Result<sandbox::ImagePlan> host_image(const std::string& python, const std::string& shim);

// The same without an interpreter: for programs of /usr.
sandbox::ImagePlan host_image(const std::string& shim);

// The files that every template on the host's own files sees; none for an interpreter elsewhere.
sandbox::ImagePlan files_of_host(const std::string& shim);
// The directories that an interpreter loads from, by its own word, and what links among them lead
// to. Runs it.
sys::Result<std::vector<std::string>> interpreter_directories(const std::string& python);
// Tells whether the path is the directory or lies in it.
bool beneath(const std::string& path, const std::string& directory);

inline constexpr const char* kShimTarget = "/.zygo";
inline constexpr const char* kSetupTarget = "/.zygo-setup.py";  // a template's own file, if any

// The same view as paths, for where nothing can be bound and Landlock alone draws the line: what is
// read (devices too), and what may be written as well. The shim is left out.
struct HostPaths {
  std::vector<std::string> readable, devices;
};
HostPaths paths_of(const sandbox::ImagePlan& plan);

// The parts of every root beside its files: devices, and entries for /proc and the standard
// streams. `add_devices` points /dev/shm to /tmp.
void add_devices(sandbox::ImagePlan& plan);
void add_proc(sandbox::ImagePlan& plan);

// A digest of the plan, for the template's identity.
std::string plan_text(const sandbox::ImagePlan& plan);

}  // namespace images
