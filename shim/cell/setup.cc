#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "sandbox/caps.h"
#include "sandbox/landlock.h"
#include "sandbox/mounts/mounts.h"
#include "sandbox/namespaces.h"
#include "sandbox/sys/socket.h"
#include "shim/borrow/holder.h"
#include "shim/cell/cell.h"
#include "shim/cell/confine.h"
#include "shim/cell/lend.h"
#include "shim/cell/sweeper.h"
#include "shim/state/format.h"

namespace shim {

using sandbox::Layer;

namespace {

constexpr const char* kScratch = "/tmp";

// The interpreter's handlers would let signals through to pid 1; with the default actions the
// kernel shields it (pid_namespaces(7)). The job reinstalls what Python needs.
void reset_signals() {
  for (int signal = 1; signal < 65; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Frees the fixed numbers: what travels is moved up, and the numbers themselves are taken, so that
// no later open() lands on one of them.
void clear_fixed_numbers(const Setup& setup, int* descriptors, unsigned count, int& mapped) {
  constexpr int kAbove = 64;
  for (unsigned i = 0; i < count; ++i) {
    descriptors[i] = ::fcntl(descriptors[i], F_DUPFD_CLOEXEC, kAbove);
    setup.require_call(Step::kStdio, descriptors[i]);
  }
  mapped = ::fcntl(mapped, F_DUPFD_CLOEXEC, kAbove);
  setup.require_call(Step::kStdio, mapped);
  for (int fd = 3; fd < kAbove; ++fd) {
    if (fd != kProcFd) setup.require_call(Step::kStdio, ::dup2(0, fd));
  }
}

void join_cgroups(const Setup& setup, const CellOrder& order, const int* descriptors) {
  for (unsigned i = 0; i < order.cgroup_count; ++i) {
    setup.require_call(Step::kCgroup, ::write(descriptors[first_cgroup_of(order) + i], "0", 1));
  }
  if (sandbox::Layers::from_bits(order.layers).has(Layer::kCgroupNs)) {
    setup.require_call(Step::kNamespaces, ::unshare(CLONE_NEWCGROUP));
  }
}

void enter_scratch(const Setup& setup, Cell& cell) {
  setup.require_call(Step::kScratch, ::fchdir(kFdScratch));
  struct statfs info {};
  setup.require_call(Step::kScratch, ::fstatfs(kFdScratch, &info));
  cell.scratch_blocks = info.f_bfree;
  cell.scratch_inodes = info.f_ffree;
}

// A directory of the daemon's making; `order` lives as long as the cell.
void take_scratch(const Setup& setup, const CellOrder& order, int directory, Cell& cell) {
  setup.require_call(Step::kScratch, ::dup2(directory, kFdScratch));
  cell.home = order.scratch_path;
  cell.scratch_bytes_limit = order.scratch_bytes;
  cell.scratch_inodes_limit = order.scratch_inodes;
  enter_scratch(setup, cell);
}

void make_scratch(const Setup& setup, const CellOrder& order, Cell& cell) {
  if (cell.layers.has(Layer::kScratch)) {
    auto exec = order.scratch_exec ? sandbox::Exec::kYes : sandbox::Exec::kNo;
    setup.require(Step::kScratch, sandbox::mount_scratch(kScratch, order.scratch_bytes,
                                                         order.scratch_inodes, exec));
  }
  int fd = ::open(kScratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  setup.require_call(Step::kScratch, fd);
  setup.require_call(Step::kScratch, ::dup2(fd, kFdScratch));
  enter_scratch(setup, cell);
}

// Everything in the root but what a process could read in /proc of its mounts and groups: opening
// is refused there, links are followed all the same (/proc/self/exe, /proc/self/fd/0).
void allow_root_without_proc(const Setup& setup, std::vector<sys::OwnedFd>& held,
                             sandbox::LandlockRules& rules) {
  DIR* root = ::opendir("/");
  setup.require(Step::kRuleset, root ? 0 : errno);
  while (const dirent* entry = ::readdir(root)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || name == "proc") continue;
    held.emplace_back(::openat(::dirfd(root), entry->d_name, O_PATH | O_CLOEXEC));
    // A link into the scratch, where nothing is yet.
    if (!held.back() && entry->d_type == DT_LNK && errno == ENOENT) continue;
    setup.require_call(Step::kRuleset, held.back().get());
    rules.readable.push_back(held.back().get());
  }
  ::closedir(root);
  held.emplace_back(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  setup.require_call(Step::kRuleset, held.back().get());
  rules.listable.push_back(held.back().get());
}

void open_proc_files(const Setup& setup, const CellOrder& order, Cell& cell) {
  int oom = ::openat(kProcFd, "self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  setup.require_call(Step::kProc, oom);
  setup.require_call(Step::kProc, ::dup2(oom, kFdOomScore));
  if (order.makes_sockets && cell.layers.has(Layer::kNetNs)) {
    const int sockets = ::openat(kProcFd, "self/net/sockstat", O_RDONLY | O_CLOEXEC);
    if (sockets >= 0 && ::dup2(sockets, kFdSockets) >= 0) cell.sockets = count_sockets();
  }
  if (cell.reach != Reach::kNamespace) {  // the counter of pids is everybody's
    const int children = ::openat(kProcFd, "thread-self/children", O_RDONLY | O_CLOEXEC);
    if (children >= 0) ::dup2(children, kFdOffspring);  // absent without CONFIG_PROC_CHILDREN
    return;
  }
  int last_pid = ::openat(kProcFd, "sys/kernel/ns_last_pid", O_RDWR | O_CLOEXEC);
  if (last_pid >= 0) ::dup2(last_pid, kFdLastPid);  // absent without CONFIG_CHECKPOINT_RESTORE
}

void make_ruleset(const Setup& setup, const CellOrder& order, const int* descriptors,
                  const Cell& cell) {
  if (!cell.layers.has(Layer::kLandlock)) return;
  if (order.has_scratch()) {
    setup.require_call(Step::kRuleset, ::dup2(descriptors[kCellRuleset], kFdRuleset));
    return;
  }
  sandbox::LandlockRules rules;
  std::vector<sys::OwnedFd> held;
  if (order.own_proc) {
    allow_root_without_proc(setup, held, rules);
  } else {
    held.emplace_back(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    setup.require_call(Step::kRuleset, held.back().get());
    rules.readable = {held.back().get()};
  }
  rules.scratch = {kFdScratch};
  using Execution = sandbox::LandlockRules::Execution;
  rules.in_scratch = order.scratch_exec ? Execution::kAllowed : Execution::kDenied;
  sys::OwnedFd null(::open("/dev/null", O_PATH | O_CLOEXEC)),
      full(::open("/dev/full", O_PATH | O_CLOEXEC));
  for (const sys::OwnedFd* device : {&null, &full}) {
    if (*device) rules.devices.push_back(device->get());
  }
  auto ruleset = sandbox::make_ruleset(rules);
  if (!ruleset.ok())
    setup.require(Step::kRuleset, ruleset.error().code() ? ruleset.error().code() : ENOSYS);
  setup.require_call(Step::kRuleset, ::dup2(ruleset->get(), kFdRuleset));
}

void map_answer(const Setup& setup, const CellOrder& order, int memfd, Cell& cell) {
  void* at = ::mmap(reinterpret_cast<void*>(state::kAnswerAddress), order.answer_bytes,
                    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, memfd, 0);
  setup.require(Step::kAnswer, at == MAP_FAILED ? errno : 0);
  cell.answer = static_cast<AnswerRegion*>(at);
  cell.answer_bytes = order.answer_bytes;
}

// A description of this cell's own: flags and locks of an inherited one are shared with all cells.
void open_null(const Setup& setup) {
  sys::OwnedFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  setup.require_call(Step::kStdio, null.get());
  setup.require_call(Step::kStdio, ::dup2(null.get(), kFdNull));
}

// SIGCHLD stays blocked in pid 1 and is read from a descriptor instead; jobs unblock it.
void watch_children(const Setup& setup) {
  sigset_t ended;
  ::sigemptyset(&ended);
  ::sigaddset(&ended, SIGCHLD);
  setup.require_call(Step::kStdio, ::sigprocmask(SIG_BLOCK, &ended, nullptr));
  sys::OwnedFd children(::signalfd(-1, &ended, SFD_NONBLOCK | SFD_CLOEXEC));
  setup.require_call(Step::kStdio, children.get());
  setup.require_call(Step::kStdio, ::dup2(children.get(), kFdChildren));
}

void make_report_pipe(const Setup& setup) {
  int ends[2];
  setup.require_call(Step::kStdio, ::pipe2(ends, O_CLOEXEC));
  // Away from the numbers they are to have, first.
  int reader = ::fcntl(ends[0], F_DUPFD_CLOEXEC, kFdCount + 32);
  int writer = ::fcntl(ends[1], F_DUPFD_CLOEXEC, kFdCount + 32);
  setup.require_call(Step::kStdio, ::dup2(reader, kFdReportRead));
  setup.require_call(Step::kStdio, ::dup2(writer, kFdReportWrite));
  setup.require_call(Step::kStdio, ::fcntl(kFdReportRead, F_SETFL, O_NONBLOCK));
}

// The filter is the last layer: it forbids everything above. Its listener goes to the daemon. Where
// there is a holder, the filter is the holder's, whose children the jobs are.
void load_filter_and_report(const Setup& setup, const CellOrder& order, int filter,
                            const Cell& cell) {
  struct stat scratch {};
  setup.require_call(Step::kReady, ::fstat(kFdScratch, &scratch));
  sys::OwnedFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  setup.require_call(Step::kReady, root.get());
  CellReady ready;
  ready.scratch_device = scratch.st_dev;
  int fds[3] = {root.get(), -1, -1};
  unsigned count = 1;
  sys::OwnedFd listener, holder;
  // From here on, no other call than sendmsg: an observer's filter notifies everything, and nobody
  // answers before the listener has arrived.
  if (cell.holder) {
    fds[count++] = kFdListener;
    holder = sys::OwnedFd(static_cast<int>(::syscall(SYS_pidfd_open, cell.holder->pid(), 0)));
    setup.require_call(Step::kReady, holder.get());
    fds[count++] = holder.get();
    ready.has_listener = ready.has_holder = 1;
    ready.image_bytes = cell.holder->image_bytes();
  } else if (cell.layers.has(Layer::kSeccomp)) {
    listener = load_filter(setup, order, filter, FilterFor::kForks);
    fds[count++] = listener.get();
    ready.has_listener = 1;
  }
  auto sent = sys::send_message(kFdSocket, sys::bytes_of(ready), {fds, count});
  if (!sent.ok()) ::_exit(1);
  if (cell.holder) ::close(kFdListener);
}

// Pid 1's own ids. Away from root's, its capabilities are kept by hand (capabilities(7)).
void take_identity(const Setup& setup, const CellOrder& order, const Cell& cell) {
  if (!cell.two_ids) return;
  if (cell.layers.has(Layer::kUserNs)) {
    return setup.require(Step::kIdentity, sandbox::become(0, order.inside_init_gid(), true));
  }
  if (cell.reach == Reach::kNamespace) return;
  const sandbox::CapMask held = sandbox::permitted_caps();
  setup.require_call(Step::kIdentity, ::prctl(PR_SET_KEEPCAPS, 1));
  setup.require(Step::kIdentity, sandbox::become(order.init_id, order.init_id, true));
  setup.require(Step::kIdentity, sandbox::keep_only(held));
}

Reach reach_of(sandbox::Layers layers, bool two_ids) {
  if (layers.has(Layer::kPidNs) || layers.has(Layer::kUserNs)) return Reach::kNamespace;
  return two_ids ? Reach::kUser : Reach::kGroup;
}

// Without a namespace orphans must come to us all the same, and the sweeper takes care that none is
// left when we go. The job's own orders come from pid 1, so pid 1 stays when its parent goes: it
// ends when the daemon hangs up.
void replace_pid_namespace(const Setup& setup, const CellOrder& order, const Cell& cell) {
  if (cell.reach == Reach::kNamespace) return;
  setup.require_call(Step::kSweeper, ::prctl(PR_SET_CHILD_SUBREAPER, 1));
  setup.require_call(Step::kSweeper, ::setpgid(0, 0));
  SweeperPlan plan;
  if (cell.reach == Reach::kUser) plan = {order.job_id, order.sweeper_id};
  int line = -1;
  setup.require(Step::kSweeper, start_sweeper(plan, line));
  setup.require_call(Step::kSweeper, ::dup2(line, kFdSweeper));
}

// For the shard that ordered the cell. Where it may not, it stays: that is slower, and no less
// safe.
void move_to(int cpu) {
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  (void)::sched_setaffinity(0, sizeof set, &set);
}

Cell describe(const CellOrder& order, int* tid_address) {
  Cell cell;
  cell.layers = sandbox::Layers::from_bits(order.layers);
  cell.two_ids = order.job_id != 0;
  cell.reach = reach_of(cell.layers, cell.two_ids);
  const bool maps_ids = cell.layers.has(Layer::kUserNs);
  cell.job_uid = maps_ids ? order.inside_uid : order.job_id;
  cell.job_gid = maps_ids ? order.inside_gid : order.job_id;
  cell.readable_job = order.readable_job != 0;
  cell.verifies_rollback = order.verifies_rollback != 0;
  cell.trap_reports = order.trap_reports != 0;
  cell.makes_sockets = order.makes_sockets != 0;
  cell.tid_address = tid_address;
  return cell;
}

}  // namespace

void run_cell(const CellOrder& order, int* descriptors, unsigned count, int mapped,
              int* tid_address) {
  move_to(order.cpu);
  clear_fixed_numbers(Setup(descriptors[kCellSocket]), descriptors, count, mapped);
  Setup setup(descriptors[kCellSocket]);
  Cell cell = describe(order, tid_address);

  char go = 0;
  setup.require(Step::kIdMaps, ::read(mapped, &go, 1) == 1 ? 0 : ECHILD);
  reset_signals();
  open_proc_files(setup, order, cell);  // before the change of uid: it makes the process
                                        // non-dumpable, and these files root's
  replace_pid_namespace(setup, order, cell);
  take_identity(setup, order, cell);
  if (cell.reach == Reach::kNamespace) {  // a change of uid clears it
    setup.require_call(Step::kIdentity, ::prctl(PR_SET_PDEATHSIG, SIGKILL));
  }
  join_cgroups(setup, order, descriptors);
  map_answer(setup, order, descriptors[kCellAnswer], cell);
  if (order.has_scratch()) {
    take_scratch(setup, order, descriptors[kCellScratch], cell);
  } else {
    make_scratch(setup, order, cell);
  }
  if (order.own_proc && cell.reach == Reach::kNamespace) {
    setup.require(Step::kProc, sandbox::mount_own_proc("/proc"));
  }
  if (cell.layers.has(Layer::kUtsNs)) setup.require_call(Step::kHostname, ::sethostname("zygo", 4));
  make_ruleset(setup, order, descriptors, cell);
  make_report_pipe(setup);
  open_null(setup);
  watch_children(setup);
  setup.require_call(Step::kStdio, ::dup2(descriptors[kCellStdout], 1));
  setup.require_call(Step::kStdio, ::dup2(descriptors[kCellStderr], 2));
  make_holder(setup, order, descriptors[kCellFilter], cell);
  setup.require_call(Step::kStdio, ::dup2(descriptors[kCellRequest], kFdRequest));
  int filter = ::dup2(descriptors[kCellFilter], kFdCount);
  setup.require_call(Step::kStdio, ::dup2(descriptors[kCellSocket], kFdSocket));
  Setup late(kFdSocket);
  ::close_range(kFdCount + 1, ~0u, 0);
  deny_new_code(order);
  drop_privileges(late, cell, kInitCapabilities);
  load_filter_and_report(late, order, filter, cell);
  ::close_range(kFdCount, ~0u, 0);
  serve_jobs(cell);
}

}  // namespace shim
