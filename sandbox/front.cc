#include "sandbox/front.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "sandbox/caps.h"
#include "sandbox/landlock.h"
#include "sandbox/namespaces.h"
#include "sandbox/seccomp/seccomp.h"
#include "sandbox/supervisor.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/sanitized.h"

namespace sandbox {

using sys::Error;
using sys::Result;

namespace {

constexpr Layer kNamespaces[] = {Layer::kNetNs, Layer::kIpcNs, Layer::kUtsNs};

std::string own_id_only(unsigned id) {
  const std::string text = std::to_string(id);
  return text + ' ' + text + " 1";
}

// A user namespace without its own user in the map would show every owner as nobody.
Result<void> map_own_ids(uid_t uid, gid_t gid) {
  TRY(sys::write_control("/proc/self/setgroups", "deny"));
  TRY(sys::write_control("/proc/self/uid_map", own_id_only(uid)));
  return sys::write_control("/proc/self/gid_map", own_id_only(gid));
}

// One by one: a host may refuse some of them.
Layers leave_namespaces(const FrontPlan& plan) {
  Layers left;
  const bool may = (permitted_caps() & cap_bit(21 /* CAP_SYS_ADMIN */)) != 0;
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (!may) {
    if (plan.tells_users_apart || plan.without.has(Layer::kUserNs)) return left;
    if (::unshare(CLONE_NEWUSER) < 0) return left;
    left = left.with(Layer::kUserNs);
    if (!map_own_ids(uid, gid)) return left;
  }
  for (const Layer each : kNamespaces) {
    if (plan.without.has(each)) continue;
    if (::unshare(static_cast<int>(clone_flags_for(Layers().with(each)))) == 0)
      left = left.with(each);
  }
  return left;
}

Result<bool> draw_file_line(const FrontPlan& plan) {
  if (plan.without.has(Layer::kLandlock) || landlock_abi() == 0) return false;
  const sys::OwnedFd ruleset = TRY(make_ruleset({.readable = plan.readable,
                                                 .scratch = plan.writable,
                                                 .in_scratch = LandlockRules::Execution::kDenied}));
  if (const int error = restrict_self(ruleset.get()); error != 0)
    return Error::from_errno("Landlock for the front", error);
  return true;
}

Result<void> give_up_capabilities() {
  int error = 0;
  if (permitted_caps() & cap_bit(8 /* CAP_SETPCAP */)) error = drop_bounding_set();
  if (error == 0) error = drop_all_caps();
  if (error != 0) return Error::from_errno("drop the front's capabilities", error);
  return {};
}

}  // namespace

Result<Layers> confine_front(const FrontPlan& plan) {
  const rlimit no_core{0, 0};
  if (::setrlimit(RLIMIT_CORE, &no_core) < 0) return Error::from_errno("no core of the front");
  Layers in_force = leave_namespaces(plan);
  if (!plan.without.has(Layer::kNoNewPrivs)) {
    if (const int error = set_no_new_privs(); error != 0)
      return Error::from_errno("no_new_privs for the front", error);
    in_force = in_force.with(Layer::kNoNewPrivs);
  }
  if (TRY(draw_file_line(plan))) in_force = in_force.with(Layer::kLandlock);
  if (!plan.without.has(Layer::kCaps)) {
    TRY(give_up_capabilities());
    in_force = in_force.with(Layer::kCaps);
  }
  // Sanitizers look into their own process, and ask for more than the filter allows.
  if (sys::kSanitized) return in_force;
  if (::prctl(PR_SET_DUMPABLE, 0) < 0) return Error::from_errno("PR_SET_DUMPABLE 0");
  if (plan.without.has(Layer::kSeccomp)) return in_force;
  const std::string filter = TRY(compile_front_filter());
  TRY(load_for_process(filter));
  return in_force.with(Layer::kSeccomp);
}

namespace {

// A process does `work`, which gives something up for good, and says what.
Result<Layers> tried(const std::function<Result<Layers>()>& work) {
  sys::Pipe pipe = TRY(sys::make_pipe());
  const pid_t child = ::fork();
  if (child < 0) return Error::from_errno("fork");
  if (child == 0) {
    const Result<Layers> found = work();
    const uint32_t bits = found ? found->bits() : 0;
    const bool said = ::write(pipe.writer.get(), &bits, sizeof bits) == sizeof bits;
    ::_exit(found && said ? 0 : 1);
  }
  pipe.writer.reset();
  uint32_t bits = 0;
  const bool told = ::read(pipe.reader.get(), &bits, sizeof bits) == sizeof bits;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!told || status != 0)
    return Error::because("a process that confines itself did not end well");
  return Layers::from_bits(bits);
}

// It is started by a process that has given up already what the engine needs not.
Result<Layers> front_layers() {
  TRY(harden_supervisor());
  return confine_front({});
}

Result<Layers> supervisor_layers() {
  TRY(harden_supervisor());
  Layers found = Layers().with(Layer::kCaps);
  if (has_no_new_privs()) found = found.with(Layer::kNoNewPrivs);
  if (::prctl(PR_GET_SECCOMP) == 2) found = found.with(Layer::kSeccomp);
  return found;
}

}  // namespace

Result<OwnFences> probe_own_fences() {
  OwnFences found;
  found.engine = TRY(tried(supervisor_layers));
  found.front = TRY(tried(front_layers));
  return found;
}

}  // namespace sandbox
