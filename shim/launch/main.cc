// zygo-launch: builds the namespaces, id maps and image of one template and executes its
// interpreter in them; or, with --plain, only gives up privileges. Started by the daemon with
// descriptor 3 as the control socket; its errors are one line on stderr and an exit status that
// tells a shortage (status_of_launch). The template becomes the daemon's own child (CLONE_PARENT),
// and the launcher ends.

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sandbox/caps.h"
#include "sandbox/core_scheduling.h"
#include "sandbox/mounts/mounts.h"
#include "sandbox/namespaces.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/socket.h"
#include "shim/fixed/fixed.h"
#include "shim/launch/options.h"
#include "shim/protocol.h"

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif

namespace {

using namespace shim;
using sandbox::Layer;
using sys::Error;
using sys::OwnedFd;
using sys::Result;

constexpr const char* kStaging = "/tmp";  // covered in the template's mount namespace only

bool maps_a_range(const LaunchOptions& options) { return options.id_count > 0; }

// With a range of ids the launcher is privileged and builds the image before it gives that up:
// files readable by the host's root alone can be bound. Without, only the new namespace has the
// right.
Result<void> prepare_host_side(const LaunchOptions& options) {
  for (const std::string& file : options.cgroup_files) TRY(sys::write_control(file, "0"));
  if (maps_a_range(options)) {
    if (::unshare(CLONE_NEWNS) < 0) return Error::from_errno("unshare mount namespace");
    TRY(sandbox::build_image(options.image, kStaging));
  }
  return {};
}

Result<void> enter_identity(bool range) {
  int error = sandbox::become(0, 0, range);
  if (error != 0) return Error::from_errno("become uid 0 of the template", error);
  return {};
}

// For jobs in fixed mode. Where the addresses cannot be had, the daemon knows that and says so.
void fix_surroundings(const std::string& library) {
  (void)::personality(ADDR_NO_RANDOMIZE);
  ::setenv("LD_PRELOAD", library.c_str(), 1);
  ::setenv(kFixedName, kFixedInTemplate, 1);
}

// The interpreter in this process's place.
Result<void> execute(const LaunchOptions& options) {
  // After the change of uid, which clears it. The parent is the daemon's thread.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) return Error::from_errno("PR_SET_PDEATHSIG");
  if (::prctl(PR_SET_DUMPABLE, 1) < 0) return Error::from_errno("PR_SET_DUMPABLE");
  std::vector<char*> argv;
  for (const std::string& word : options.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  if (!options.fixed.empty()) fix_surroundings(options.fixed);
  // The interpreter must not inherit what only this file needs.
  ::syscall(SYS_close_range, static_cast<unsigned>(kProcFd + 1), ~0u, 0u);
  ::execv(argv[0], argv.data());
  return Error::from_errno("execute " + options.command[0]);
}

// A container runtime that covers parts of /proc forbids a fresh one (mount_too_revealing in the
// kernel's fs/namespace.c). The container's own serves as well: nothing in it is looked up by a pid
// of the template's namespace, and jobs have neither.
Result<OwnedFd> some_proc() {
  Result<OwnedFd> fresh = sandbox::detached_proc();
  if (fresh || fresh.error().code() != EPERM) return fresh;
  return sys::open("/proc", O_RDONLY | O_DIRECTORY);
}

Result<void> template_side(const LaunchOptions& options, int mapped) {
  char go = 0;
  if (::read(mapped, &go, 1) != 1) return Error::because("the launcher ended early");
  bool range = maps_a_range(options);
  TRY(enter_identity(range));
  if (!range) TRY(sandbox::build_image(options.image, kStaging));
  OwnedFd proc = TRY(some_proc());
  if (::dup2(proc.get(), kProcFd) < 0) return Error::from_errno("keep proc");
  TRY(sandbox::pivot_into(kStaging));
  // Only where one is visible may a cell mount its own over it.
  if (int error = options.proc ? sandbox::attach_mount(kProcFd, "/proc") : 0; error != 0) {
    return Error::from_errno("attach proc", error);
  }
  if (options.layers.has(Layer::kUtsNs) && ::sethostname("zygo", 4) < 0)
    return Error::from_errno("sethostname");
  if (options.layers.has(Layer::kCgroupNs) && ::unshare(CLONE_NEWCGROUP) < 0) {
    return Error::from_errno("unshare cgroup namespace");
  }
  if (::chdir("/tmp") < 0) return Error::from_errno("chdir /tmp");
  return execute(options);
}

// Cells need these to give jobs their ids, to end them, and to wipe after them; all of them are in
// Docker's default set. The bounding set bounds what root gets back by execve.
constexpr sandbox::CapMask kTemplateCapabilities =
    sandbox::cap_bit(CAP_SETUID) | sandbox::cap_bit(CAP_SETGID) | sandbox::cap_bit(CAP_KILL) |
    sandbox::cap_bit(CAP_DAC_OVERRIDE) | sandbox::cap_bit(CAP_FOWNER) |
    sandbox::cap_bit(CAP_SETPCAP);

Result<void> give_up_privileges(const LaunchOptions& options) {
  const sandbox::CapMask held = sandbox::permitted_caps();
  const sandbox::CapMask keep = options.run_as ? 0 : held & kTemplateCapabilities;
  int error = 0;
  if (held & sandbox::cap_bit(CAP_SETPCAP)) error = sandbox::drop_bounding_set(keep);
  if (error == 0 && options.run_as) {
    error = sandbox::become(options.run_as, options.run_as, true);
  }
  if (error == 0) error = sandbox::keep_only(keep);
  if (error == 0) error = sandbox::set_no_new_privs();
  if (error != 0) return Error::from_errno("give up privileges", error);
  return {};
}

// A template among the host's own processes and files: levels contained and minimal.
Result<void> plain_template(const LaunchOptions& options, int told) {
  char go = 0;
  if (::read(told, &go, 1) != 1) return Error::because("the launcher ended early");
  OwnedFd proc = TRY(sys::open("/proc", O_RDONLY | O_DIRECTORY));
  if (::dup2(proc.get(), kProcFd) < 0) return Error::from_errno("keep proc");
  if (::chdir("/") < 0) return Error::from_errno("chdir /");
  TRY(give_up_privileges(options));
  return execute(options);
}

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "zygo-launch: %s\n", error.text().c_str());
  std::_Exit(status_of_launch(error.code()));
}

// The child belongs to the daemon from its first moment; `go` lets it begin.
Result<long> clone_template(uint64_t flags, OwnedFd& pidfd) {
  int fd = -1;
  long pid = ::syscall(SYS_clone, flags | CLONE_PARENT | CLONE_PIDFD | SIGCHLD, nullptr, &fd,
                       nullptr, nullptr);
  if (pid < 0) return Error::from_errno("clone the template");
  if (pid > 0) pidfd = OwnedFd(fd);
  return pid;
}

Result<void> announce(const OwnedFd& born) {
  TemplateBorn message;
  return sys::send_message(kControlFd, sys::bytes_of(message), std::vector<int>{born.get()});
}

Result<void> launch_plain(const LaunchOptions& options) {
  sys::Pipe told = TRY(sys::make_pipe());
  OwnedFd born;
  long pid = TRY(clone_template(0, born));
  if (pid == 0) {
    told.writer.reset();
    Result<void> ran = plain_template(options, told.reader.get());
    fail(std::move(ran).error());
  }
  TRY(announce(born));
  return sys::write_all(told.writer.get(), "m");
}
Result<void> launch(const LaunchOptions& options) {
  TRY(prepare_host_side(options));
  sys::Pipe mapped = TRY(sys::make_pipe());
  OwnedFd proc = TRY(sys::open("/proc", O_PATH | O_DIRECTORY));
  uint64_t flags =
      sandbox::clone_flags_for(options.layers) | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS;
  OwnedFd born;
  long pid = TRY(clone_template(flags, born));
  if (pid == 0) {
    mapped.writer.reset();
    Result<void> ran = template_side(options, mapped.reader.get());
    fail(std::move(ran).error());
  }
  TRY(announce(born));
  const sandbox::IdRange range = {0, maps_a_range(options) ? options.id_base : ::geteuid(),
                                  maps_a_range(options) ? options.id_count : 1};
  int error;
  if (maps_a_range(options)) {
    error = sandbox::write_id_maps(proc.get(), static_cast<pid_t>(pid), {&range, 1}, {&range, 1});
  } else {
    // uid and gid may differ for an ordinary user; each map names its own id.
    error = sandbox::write_single_id_maps(proc.get(), static_cast<pid_t>(pid), 0);
  }
  if (error != 0) return Error::from_errno("write id maps", error);
  return sys::write_all(mapped.writer.get(), "m");
}

// Where memory runs out, templates go before the daemon, which starts others, and after jobs.
void go_before_the_daemon() { (void)sys::write_control("/proc/self/oom_score_adj", "500").ok(); }

}  // namespace

int main(int argc, char** argv) {
  go_before_the_daemon();
  Result<LaunchOptions> options = parse_launch_options(argc, argv);
  if (!options) fail(options.error());
  // Inherited by the template, its cells and their jobs.
  if (int error = options->core_cookie ? sandbox::make_core_cookie() : 0; error != 0)
    fail(Error::from_errno("make a core-scheduling cookie", error));
  Result<void> launched = options->plain ? launch_plain(*options) : launch(*options);
  if (!launched) fail(launched.error());
  return 0;
}
