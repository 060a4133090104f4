#include "images/host_image.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "sandbox/sys/file.h"
#include "sandbox/sys/spawn.h"

namespace images {

using sandbox::ImageEntry;
using sandbox::ImagePlan;
using sys::Error;
using sys::Result;
using Kind = sandbox::ImageEntry::Kind;

namespace {

// /bin, /lib, ... are links into /usr on a merged system, directories of their own on others.
void add_top_level(ImagePlan& plan) {
  for (const char* path : {"/bin", "/lib", "/lib64", "/sbin", "/lib32", "/libx32"}) {
    char link[PATH_MAX];
    ssize_t n = ::readlink(path, link, sizeof link);
    if (n > 0) {
      plan.push_back({Kind::kSymlink, path, std::string(link, static_cast<size_t>(n))});
    } else if (::access(path, F_OK) == 0) {
      plan.push_back({Kind::kBind, path, path});
    }
  }
}

void add_etc(ImagePlan& plan) {
  for (const char* path : {"/etc/alternatives", "/etc/ld.so.cache", "/etc/python3",
                           "/etc/python3.11", "/etc/fonts", "/etc/matplotlibrc"}) {
    if (::access(path, R_OK) == 0) plan.push_back({Kind::kBind, path, path});
  }
  plan.push_back({Kind::kFile, "/etc/passwd",
                  "root:x:0:0:root:/:/usr/sbin/nologin\n"
                  "sandbox:x:1000:1000:sandbox:/tmp:/bin/sh\n"
                  "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"});
  plan.push_back({Kind::kFile, "/etc/group", "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n"});
  plan.push_back({Kind::kFile, "/etc/hosts", "127.0.0.1 localhost\n"});
  plan.push_back(
      {Kind::kFile, "/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"});
}

// Without these the interpreters of /usr do not start.
void add_settings_of_languages(ImagePlan& plan) {
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator("/etc", problem)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("java-") || name == "R" || name == "perl" || name == "php")
      plan.push_back({Kind::kBind, entry.path(), entry.path()});
  }
  // Absent is well, unreadable is not: node then does not start.
  constexpr const char* kOpenSsl = "/etc/ssl/openssl.cnf";
  if (::access(kOpenSsl, R_OK) == 0) plan.push_back({Kind::kBind, kOpenSsl, kOpenSsl});
}

}  // namespace

bool beneath(const std::string& path, const std::string& directory) {
  return path == directory || (path.size() > directory.size() && path.starts_with(directory) &&
                               path[directory.size()] == '/');
}

Result<std::vector<std::string>> interpreter_directories(const std::string& python) {
  std::string program =
      "import os,sys,sysconfig\n"
      "p={sys.prefix,sys.base_prefix,sys.exec_prefix,sys.base_exec_prefix,"
      "os.path.dirname(os.path.realpath(sys.executable)),sysconfig.get_path('stdlib')}\n"
      "p|={x for x in sys.path if os.path.isdir(x)}\n"
      "print('\\n'.join(p|{os.path.realpath(x) for x in p}))\n";
  sys::SpawnOutput output = TRY(sys::run_and_read({python, "-I", "-c", program}));
  if (output.status != 0) {
    return Error::because(python + ": it cannot tell where its files are (exit status " +
                          std::to_string(output.status) + ")");
  }
  std::vector<std::string> paths;
  for (size_t at = 0; at < output.text.size();) {
    size_t end = std::min(output.text.find('\n', at), output.text.size());
    if (end > at) paths.push_back(output.text.substr(at, end - at));
    at = end + 1;
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

ImagePlan files_of_host(const std::string& shim) {
  ImagePlan plan;
  plan.push_back({Kind::kBind, "/usr", "/usr"});
  add_top_level(plan);
  add_etc(plan);
  add_devices(plan);
  for (const char* path : {"/tmp", "/var", "/var/tmp"})
    plan.push_back({Kind::kDirectory, path, ""});
  plan.push_back({Kind::kBind, kShimTarget, shim});
  return plan;
}

void add_devices(ImagePlan& plan) {
  for (const char* path : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}) {
    plan.push_back({Kind::kDevice, path, path});
  }
  // POSIX semaphores and shared memory are files here: of the job, in its scratch, wiped with it.
  plan.push_back({Kind::kSymlink, "/dev/shm", "/tmp"});
}

void add_proc(ImagePlan& plan) {
  plan.push_back({Kind::kDirectory, "/proc", ""});
  const std::pair<const char*, const char*> links[] = {{"/dev/fd", "/proc/self/fd"},
                                                       {"/dev/stdin", "/proc/self/fd/0"},
                                                       {"/dev/stdout", "/proc/self/fd/1"},
                                                       {"/dev/stderr", "/proc/self/fd/2"}};
  for (const auto& [path, target] : links) plan.push_back({Kind::kSymlink, path, target});
}

ImagePlan host_image(const std::string& shim) {
  ImagePlan plan = files_of_host(shim);
  add_settings_of_languages(plan);
  add_proc(plan);
  return plan;
}

Result<ImagePlan> host_image(const std::string& python, const std::string& shim) {
  if (python.empty() || python[0] != '/')
    return Error::because("python: \"" + python + "\" is not an absolute path");
  if (::access(python.c_str(), X_OK) < 0) return Error::from_errno("python " + python);
  ImagePlan plan = files_of_host(shim);
  if (beneath(python, "/usr")) return plan;
  std::vector<std::string> bound = {"/usr"};
  for (const std::string& path : TRY(interpreter_directories(python))) {
    if (path == "/" || path[0] != '/') continue;
    if (std::any_of(bound.begin(), bound.end(),
                    [&path](const std::string& b) { return beneath(path, b); }))
      continue;
    plan.push_back({Kind::kBind, path, path});
    bound.push_back(path);
  }
  return plan;
}

HostPaths paths_of(const ImagePlan& plan) {
  HostPaths paths;
  for (const ImageEntry& entry : plan) {
    if (entry.target == kShimTarget) continue;
    const bool of_host = entry.kind == Kind::kBind || entry.kind == Kind::kDevice;
    const std::string& path = of_host ? entry.source : entry.target;
    // The files that the image would make up are the host's own: /etc/passwd, ... Without them,
    // programs do not start or do not know who they are; SECURITY.md names these files.
    const bool there = of_host || (entry.kind == Kind::kFile && ::access(path.c_str(), R_OK) == 0);
    if (!there) continue;
    const bool writable = path == "/dev/null" || path == "/dev/full";
    (writable ? paths.devices : paths.readable).push_back(path);
  }
  return paths;
}

std::string plan_text(const ImagePlan& plan) {
  std::string text;
  for (const ImageEntry& entry : plan) {
    text +=
        std::to_string(static_cast<int>(entry.kind)) + entry.target + '\0' + entry.source + '\0';
  }
  return text;
}

}  // namespace images
