#include "images/python_environment.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "images/host_image.h"
#include "sandbox/sys/file.h"

namespace images {

using sandbox::ImageEntry;
using sandbox::ImagePlan;
using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr std::array<const char*, 4> kMountedByJobs = {"/tmp", "/proc", "/sys", "/dev"};
constexpr const char* kOfTheHost = "/usr";
constexpr int kMostLinks = 40;  // as the kernel counts

// Empty: it leads nowhere.
std::string resolved(const std::string& path) {
  char text[PATH_MAX];
  return ::realpath(path.c_str(), text) ? text : "";
}

std::string absolute(const std::string& path) {
  std::error_code problem;
  std::string text = std::filesystem::absolute(path, problem).lexically_normal();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// The reason why nothing of an environment can be shown at this path; empty: it can.
std::string objection_to(const std::string& target, const ImagePlan& host) {
  for (const char* path : kMountedByJobs) {
    if (beneath(target, path))
      return target + " lies in " + path + ", which each job has to itself";
  }
  for (const ImageEntry& entry : host) {
    const bool inside = beneath(target, entry.target) && entry.kind != ImageEntry::Kind::kDirectory;
    if (inside || beneath(entry.target, target))
      return target + " and " + entry.target + " of every root are in each other's way";
  }
  return "";
}

Result<std::string> interpreter_in(const std::string& path, EnvironmentKind kind) {
  const bool venv = kind == EnvironmentKind::kVenv;
  const std::string mark = path + (venv ? "/pyvenv.cfg" : "/conda-meta");
  if (!exists(mark)) {
    return Error::because(
        path + ": is no " +
        (venv ? "venv: it has no pyvenv.cfg" : "conda environment: it has no conda-meta"));
  }
  for (const char* name : {"/bin/python3", "/bin/python"}) {
    if (::access((path + name).c_str(), X_OK) == 0) return path + name;
  }
  return Error::because(path + ": has no bin/python3 that can be executed here");
}

// A link of the interpreter's that leads into /usr: what the host must have.
void add_base(const std::string& interpreter, PythonEnvironment& python) {
  std::string at = interpreter;
  for (int i = 0; i < kMostLinks; ++i) {
    char text[PATH_MAX];
    const ssize_t n = ::readlink(at.c_str(), text, sizeof text);
    if (n < 0) return;
    const std::filesystem::path target(std::string(text, static_cast<size_t>(n)));
    at = (std::filesystem::path(at).parent_path() / target).lexically_normal();
    if (!beneath(at, kOfTheHost)) continue;
    python.needs[at] = resolved(at);
    return;
  }
}

// The standard library, and folders of packages that are not empty.
bool is_needed(const std::string& directory) {
  if (exists(directory + "/os.py")) return true;
  std::error_code problem;
  return directory.ends_with("-packages") && !std::filesystem::is_empty(directory, problem) &&
         !problem;
}

// Finds the place without a link on the way, and nowhere but in the image.
Result<void> check_place(int rootfs, const std::string& place, const Image& image) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  const OwnedFd found(
      static_cast<int>(::syscall(SYS_openat2, rootfs, place.substr(1).c_str(), &how, sizeof how)));
  if (!found) return Error::from_errno("image " + image.name + ": its directory " + place);
  return {};
}

}  // namespace

Result<PythonEnvironment> describe_environment(const std::string& path, EnvironmentKind kind) {
  PythonEnvironment python;
  const std::string prefix = absolute(path);
  python.interpreter = TRY(interpreter_in(prefix, kind));
  if (beneath(resolved(prefix), kOfTheHost)) {
    return Error::because(prefix +
                          ": lies below /usr, which jobs see as it is on each host; make " +
                          "the environment elsewhere");
  }
  const ImagePlan host = files_of_host("");
  for (const std::string& each : TRY(interpreter_directories(python.interpreter))) {
    const std::string real = each.starts_with('/') ? resolved(each) : "";
    if (real.empty() || real == "/") continue;
    if (beneath(real, kOfTheHost)) {
      if (real != kOfTheHost && is_needed(real)) python.needs[real] = real;
      continue;
    }
    const auto& known = python.directories;
    if (std::any_of(known.begin(), known.end(),
                    [&each](const auto& other) { return beneath(each, other.first); }))
      continue;
    if (const std::string objection = objection_to(each, host); !objection.empty())
      return Error::because(prefix + ": cannot be packed: " + objection);
    python.directories[each] = real;
  }
  if (std::none_of(python.directories.begin(), python.directories.end(),
                   [&](const auto& entry) { return beneath(python.interpreter, entry.first); }))
    return Error::because(prefix + ": its interpreter says that it belongs to another environment");
  add_base(python.interpreter, python);
  return python;
}

Result<ImagePlan> environment_image(const Image& image, const std::string& shim) {
  if (!image.config.python)
    return Error::because("image " + image.name + ": is no Python environment");
  auto rootfs = sys::open(image.rootfs, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!rootfs) return std::move(rootfs).error().context("image " + image.name);
  const ImagePlan host = files_of_host(shim);
  ImagePlan plan = host;
  for (const auto& [target, place] : image.config.python->directories) {
    if (const std::string objection = objection_to(target, host); !objection.empty())
      return Error::because("image " + image.name + ": " + objection);
    TRY(check_place(rootfs->get(), place, image));
    plan.push_back({ImageEntry::Kind::kBind, target, image.rootfs + place});
  }
  return plan;
}

Result<void> check_needs(const PythonEnvironment& python) {
  std::string missing;
  for (const auto& [path, wanted] : python.needs) {
    const std::string real = resolved(path);
    if (real == wanted) continue;
    missing += (missing.empty() ? "" : ", ") + path;
    if (path != wanted || !real.empty())
      missing +=
          " (it led to " + wanted + (real.empty() ? ")" : ", here it leads to " + real + ")");
  }
  if (missing.empty()) return {};
  return Error::because("the environment " + python.interpreter +
                        " rests on files of the host that this one does not have: " + missing +
                        "; install that Python here, or pack an environment that brings its own "
                        "(conda, or a venv of a Python outside /usr)");
}

}  // namespace images
