// Each case confines a child, tries from inside what should fail, and shows that it is this fence
// by which it fails: without it, it does not.

#include "sandbox/front.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "sandbox/caps.h"
#include "sandbox/landlock.h"
#include "sandbox/namespaces.h"
#include "sandbox/seccomp/profiles.h"
#include "sandbox/seccomp/seccomp.h"
#include "sandbox/seccomp/syscall_names.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/sanitized.h"

using namespace sandbox;

namespace {

// Returns what `probe` says in a confined child: 0 or an errno. -1: it could not be confined.
int inside(const FrontPlan& plan, const std::function<int()>& probe) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!confine_front(plan)) ::_exit(255);
    ::_exit(probe());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 255) return -1;
  return WEXITSTATUS(status);
}

FrontPlan without(Layer layer) {
  FrontPlan plan;
  plan.without = Layers().with(layer);
  return plan;
}

int failure(long result) { return result < 0 ? errno : 0; }

// Which namespace of a kind this process is in.
std::string namespace_called(const std::string& kind) {
  char name[64] = "";
  (void)!::readlink(("/proc/self/ns/" + kind).c_str(), name, sizeof name - 1);
  return name;
}

// Asked of the host, and not of the fences: where it does, a fence that is missing is a failure.
bool host_allows(Layer layer) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool may = (permitted_caps() & cap_bit(21 /* CAP_SYS_ADMIN */)) != 0;
    if (!may && ::unshare(CLONE_NEWUSER) < 0) ::_exit(1);
    ::_exit(::unshare(static_cast<int>(clone_flags_for(Layers().with(layer)))) < 0 ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0;
}

uint32_t front_does(int number, std::initializer_list<uint64_t> args = {}) {
  const sys::Result<std::string> filter = compile_front_filter();
  REQUIRE(filter.ok());
  seccomp_data call{};
  call.nr = number;
  call.arch = native_arch();
  std::copy(args.begin(), args.end(), call.args);
  return evaluate(std::as_bytes(std::span(*filter)), call).action;
}

}  // namespace

TEST_CASE("the front makes no socket, no process and no code, and signals nobody", "[front]") {
  for (const long refused : {SYS_socket,
                             SYS_socketpair,
                             SYS_connect,
                             SYS_bind,
                             SYS_listen,
                             SYS_fork,
                             SYS_vfork,
                             SYS_execve,
                             SYS_execveat,
                             SYS_kill,
                             SYS_tgkill,
                             SYS_tkill,
                             SYS_pidfd_open,
                             SYS_pidfd_send_signal,
                             SYS_ptrace,
                             SYS_process_vm_readv,
                             SYS_mount,
                             SYS_unshare,
                             SYS_setns,
                             SYS_bpf,
                             SYS_io_uring_setup,
                             SYS_keyctl,
                             SYS_userfaultfd,
                             SYS_perf_event_open,
                             SYS_seccomp,
                             SYS_setuid,
                             SYS_chroot,
                             SYS_mknod,
                             SYS_name_to_handle_at,
                             SYS_shmget,
                             SYS_chown}) {
    INFO(refused);
    CHECK(front_does(static_cast<int>(refused)) == SECCOMP_RET_ERRNO);
  }
  constexpr uint64_t kThread = 0x3d0f00;  // as pthread_create() of glibc asks
  CHECK(front_does(SYS_clone, {kThread}) == SECCOMP_RET_ALLOW);
  CHECK(front_does(SYS_clone, {SIGCHLD}) == SECCOMP_RET_ERRNO);
  CHECK(front_does(SYS_clone, {kThread | 0x40000000 /* CLONE_NEWNET */}) == SECCOMP_RET_ERRNO);
  CHECK(front_does(SYS_mmap, {0, 1, PROT_READ | PROT_WRITE}) == SECCOMP_RET_ALLOW);
  CHECK(front_does(SYS_mmap, {0, 1, PROT_READ | PROT_EXEC}) == SECCOMP_RET_ERRNO);
  CHECK(front_does(SYS_mprotect, {0, 1, PROT_READ | PROT_EXEC}) == SECCOMP_RET_ERRNO);
  CHECK(front_does(SYS_sendto, {3, 0, 0, 0, 0, 0}) == SECCOMP_RET_ALLOW);
  CHECK(front_does(SYS_sendto, {3, 0, 0, 0, 0x1000, 16}) == SECCOMP_RET_ERRNO);
}

TEST_CASE("foreign system calls end the front", "[front]") {
  const sys::Result<std::string> filter = compile_front_filter();
  REQUIRE(filter.ok());
  seccomp_data call{};
  call.arch = AUDIT_ARCH_I386;
  CHECK(evaluate(std::as_bytes(std::span(*filter)), call).action == SECCOMP_RET_KILL_PROCESS);
}

TEST_CASE("the filter of the front is in force", "[front]") {
  if (sys::kSanitized) return;
  const auto make_socket = [] { return failure(::socket(AF_INET, SOCK_STREAM, 0)); };
  CHECK(inside({}, make_socket) == EPERM);
  CHECK(inside(without(Layer::kSeccomp), make_socket) == 0);
}

TEST_CASE("the front can still do what it is for", "[front]") {
  CHECK(inside({}, [] {
          std::thread works([] {});
          works.join();
          sys::OwnedFd file = std::move(sys::memfd("m", 4096)).value();
          void* const at = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0);
          return at == MAP_FAILED ? errno : 0;
        }) == 0);
}

TEST_CASE("the front sees no file but those that it is given", "[front]") {
  if (landlock_abi() == 0) {
    WARN("SKIPPED: no Landlock on this host");
    return;
  }
  const std::string folder = "/tmp/zygo-front-test-" + std::to_string(::getpid());
  REQUIRE(::mkdir(folder.c_str(), 0700) == 0);
  const sys::OwnedFd given = std::move(sys::open(folder, O_PATH | O_DIRECTORY)).value();
  const auto open_file = [](const std::string& path, int flags) {
    return [path, flags] { return failure(::open(path.c_str(), flags, 0600)); };
  };
  FrontPlan plan;
  plan.writable = {given.get()};
  CHECK(inside(plan, open_file("/etc/passwd", O_RDONLY)) == EACCES);
  CHECK(inside(without(Layer::kLandlock), open_file("/etc/passwd", O_RDONLY)) == 0);
  CHECK(inside(plan, open_file(folder + "/new", O_CREAT | O_RDWR)) == 0);
  plan.writable = {};
  plan.readable = {given.get()};
  CHECK(inside(plan, open_file(folder + "/new", O_RDONLY)) == 0);
  CHECK(inside(plan, open_file(folder + "/new", O_RDWR)) == EACCES);
  ::unlink((folder + "/new").c_str());
  ::rmdir(folder.c_str());
}

TEST_CASE("the front has no capability, and gets none", "[front]") {
  const auto has_caps = [] { return has_any_cap() || permitted_caps() != 0 ? 1 : 0; };
  CHECK(inside({}, has_caps) == 0);
  CHECK(inside({}, [] { return has_no_new_privs() ? 0 : 1; }) == 0);
  CHECK(inside({}, [] { return ::prctl(PR_CAPBSET_READ, 0 /* CAP_CHOWN */, 0, 0, 0); }) == 0);
  if (permitted_caps() == 0) return;  // nothing to lose
  CHECK(inside(without(Layer::kCaps), has_caps) == 1);
}

TEST_CASE("the front has a network, IPC and a host name of its own", "[front]") {
  struct Kind {
    const char* name;
    Layer layer;
  };
  const Kind kind =
      GENERATE(Kind{"net", Layer::kNetNs}, Kind{"ipc", Layer::kIpcNs}, Kind{"uts", Layer::kUtsNs});
  INFO(kind.name);
  if (!host_allows(kind.layer)) {
    WARN("SKIPPED: no " << kind.name << " namespace on this host");
    return;
  }
  const std::string ours = namespace_called(kind.name);
  REQUIRE_FALSE(ours.empty());
  const auto is_ours = [&] { return namespace_called(kind.name) == ours ? 1 : 0; };
  CHECK(inside({}, is_ours) == 0);
  CHECK(inside(without(kind.layer), is_ours) == 1);
}

TEST_CASE("nobody of the same user looks into the front", "[front]") {
  if (sys::kSanitized) return;
  CHECK(inside({}, [] { return ::prctl(PR_GET_DUMPABLE); }) == 0);
}

TEST_CASE("what zygo's own processes give up is found out", "[front]") {
  const sys::Result<OwnFences> fences = probe_own_fences();
  REQUIRE(fences);
  CHECK(fences->front.has(Layer::kCaps));
  CHECK(fences->front.has(Layer::kNoNewPrivs));
  CHECK(fences->front.has(Layer::kLandlock) == (landlock_abi() > 0));
  CHECK(fences->engine.has(Layer::kNoNewPrivs));
  if (sys::kSanitized) return;
  CHECK(fences->front.has(Layer::kSeccomp));
  CHECK(fences->engine.has(Layer::kSeccomp));
}
