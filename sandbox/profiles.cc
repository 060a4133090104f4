#include "sandbox/profiles.h"

#include <fcntl.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>

// Absent from older headers; the values are kernel ABI.
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

namespace sandbox {
namespace {

// ---- words of the tables ---------------------------------------------------------------------

constexpr uint64_t kInt = 0xffffffff;  // the kernel reads the argument as a 32-bit integer
constexpr uint64_t kLong = ~uint64_t{0};

constexpr Condition is(uint8_t arg, uint64_t value) { return {arg, kInt, value & kInt}; }
constexpr Condition none_of(uint8_t arg, uint64_t bits) { return {arg, bits, 0}; }
constexpr Condition is_null(uint8_t arg) { return {arg, kLong, 0}; }
constexpr Condition exactly(uint8_t arg, uint64_t bits, uint64_t among) {
  return {arg, among, bits};
}

constexpr Rule call(const char* name) { return {name, {}, 0}; }
constexpr Rule call(const char* name, Condition one) { return {name, {one, Condition{}}, 1}; }
constexpr Rule call(const char* name, Condition one, Condition two) {
  return {name, {one, two}, 2};
}

// clang-format off
// ---- every profile -----------------------------------------------------------------------------

constexpr Rule kDescriptors[] = {
    call("read"), call("write"), call("readv"), call("writev"), call("pread64"), call("pwrite64"),
    call("preadv"), call("pwritev"), call("preadv2"), call("pwritev2"), call("lseek"),
    call("_llseek"), call("close"), call("close_range"), call("dup"), call("dup2"), call("dup3"),
    call("pipe"), call("pipe2"), call("poll"), call("ppoll"), call("select"), call("pselect6"),
    call("epoll_create"), call("epoll_create1"), call("epoll_ctl"), call("epoll_wait"),
    call("epoll_pwait"), call("epoll_pwait2"), call("eventfd"), call("eventfd2"), call("signalfd"),
    call("signalfd4"), call("timerfd_create"), call("timerfd_settime"), call("timerfd_gettime"),
    call("sendfile"), call("copy_file_range"), call("splice"), call("flock"), call("fadvise64"),
    call("readahead"),
};

// Nothing else can be written than what an earlier open for writing let through.
constexpr Rule kFileDescriptors[] = {
    call("fstat"), call("fstatfs"), call("fchdir"), call("ftruncate"), call("fallocate"),
    call("fsync"), call("fdatasync"), call("sync_file_range"), call("fchmod"), call("fchown"),
    call("getdents"), call("getdents64"), call("fgetxattr"), call("flistxattr"), call("fsetxattr"),
    call("fremovexattr"), call("utimensat", is_null(1)),
};

constexpr Rule kLooking[] = {
    call("stat"), call("lstat"), call("newfstatat"), call("fstatat64"), call("statx"),
    call("access"), call("faccessat"), call("faccessat2"), call("readlink"), call("readlinkat"),
    call("getcwd"), call("chdir"), call("statfs"), call("getxattr"), call("lgetxattr"),
    call("listxattr"), call("llistxattr"), call("umask"),
};

// O_TMPFILE needs a write mode, so these bits cover it.
constexpr uint64_t kWriting = O_ACCMODE | O_CREAT | O_TRUNC;
constexpr Rule kOpeningToRead[] = {
    call("open", none_of(1, kWriting)), call("openat", none_of(2, kWriting)),
};

// Huge pages from the host's reserve are charged to no cell, so they are kept out of mmap.
// process_madvise on oneself (PIDFD_SELF_THREAD_GROUP, Linux 6.15) is how a job copies its hot pages.
constexpr uint64_t kSelfPidfd = static_cast<uint64_t>(int64_t{-10000});
constexpr Rule kMemory[] = {
    call("process_madvise", is(0, kSelfPidfd)),
    call("mmap", none_of(3, MAP_HUGETLB)), call("munmap"), call("mprotect"), call("mremap"),
    call("brk"), call("madvise"), call("msync"), call("mincore"), call("mlock"), call("mlock2"),
    call("munlock"), call("mlockall"), call("munlockall"), call("pkey_alloc"), call("pkey_free"),
    call("pkey_mprotect"), call("membarrier"), call("get_mempolicy"),
};

constexpr Rule kTime[] = {
    call("clock_gettime"), call("clock_getres"), call("clock_nanosleep"), call("nanosleep"),
    call("gettimeofday"), call("time"), call("times"), call("getrusage"), call("alarm"),
    call("setitimer"), call("getitimer"), call("timer_create"), call("timer_settime"),
    call("timer_gettime"), call("timer_getoverrun"), call("timer_delete"),
};

// Who may be signalled is settled elsewhere: the pid namespace, another uid, Landlock's scope.
constexpr Rule kSignals[] = {
    call("rt_sigaction"), call("rt_sigprocmask"), call("rt_sigpending"), call("rt_sigreturn"),
    call("rt_sigsuspend"), call("rt_sigtimedwait"), call("rt_sigqueueinfo"),
    call("rt_tgsigqueueinfo"), call("sigaltstack"), call("pause"), call("kill"), call("tkill"),
    call("tgkill"), call("pidfd_open"), call("pidfd_send_signal"), call("restart_syscall"),
};

constexpr Rule kOneself[] = {
    call("exit"), call("exit_group"), call("wait4"), call("waitid"), call("getpid"), call("gettid"),
    call("getppid"), call("getpgrp"), call("getpgid"), call("setpgid"), call("getsid"),
    call("setsid"), call("getuid"), call("geteuid"), call("getgid"), call("getegid"),
    call("getresuid"), call("getresgid"), call("getgroups"), call("capget"), call("uname"),
    call("sysinfo"), call("getcpu"), call("getrandom"), call("getpriority"), call("ioprio_get"),
    call("sched_yield"), call("sched_getaffinity"), call("sched_getparam"),
    call("sched_getscheduler"), call("sched_getattr"), call("sched_rr_get_interval"),
    call("sched_get_priority_max"), call("sched_get_priority_min"), call("getrlimit"),
    call("setrlimit"), call("futex"), call("futex_waitv"), call("set_robust_list"),
    call("get_robust_list"), call("set_tid_address"), call("rseq"), call("arch_prctl"),
};

// The steps by which a forked job gives up what its pid 1 has. Repeating them gains nothing.
constexpr Rule kGivingUp[] = {
    call("setgroups"), call("setresgid"), call("setresuid"), call("capset"),
    call("landlock_create_ruleset"), call("landlock_add_rule"), call("landlock_restrict_self"),
};

// With the same uid these would reach pid 1 (prlimit64 can kill it), so they name oneself: 0.
constexpr Rule kSelfOnly[] = {
    call("prlimit64", is(0, 0)),
    call("setpriority", is(0, PRIO_PROCESS), is(1, 0)),
    call("ioprio_set", is(0, 1 /* IOPRIO_WHO_PROCESS */), is(1, 0)),
    call("sched_setscheduler", is(0, 0), is(1, SCHED_IDLE)),
    call("personality", is(0, 0xffffffff)),  // the query
};

constexpr Rule kProcessOptions[] = {
    call("prctl", is(0, PR_SET_NAME)),
    call("prctl", is(0, PR_GET_NAME)),
    call("prctl", is(0, PR_SET_PDEATHSIG)),
    call("prctl", is(0, PR_GET_PDEATHSIG)),
    call("prctl", is(0, PR_SET_DUMPABLE), is_null(1)),  // never back on
    call("prctl", is(0, PR_GET_DUMPABLE)),
    call("prctl", is(0, PR_SET_NO_NEW_PRIVS)),
    call("prctl", is(0, PR_GET_NO_NEW_PRIVS)),
    call("prctl", is(0, PR_CAPBSET_READ)),
    call("prctl", is(0, PR_CAPBSET_DROP)),
    call("prctl", is(0, PR_CAP_AMBIENT), is(1, PR_CAP_AMBIENT_CLEAR_ALL)),
    call("prctl", is(0, PR_CAP_AMBIENT), is(1, PR_CAP_AMBIENT_IS_SET)),
    call("prctl", is(0, PR_SET_VMA)),
    call("prctl", is(0, PR_SET_TIMERSLACK)),
    call("prctl", is(0, PR_GET_TIMERSLACK)),
    call("prctl", is(0, PR_GET_KEEPCAPS)),
    call("prctl", is(0, PR_GET_SECCOMP)),
    call("prctl", is(0, PR_GET_SECUREBITS)),
    call("prctl", is(0, PR_GET_CHILD_SUBREAPER)),
    call("prctl", is(0, PR_GET_TID_ADDRESS)),
    call("prctl", is(0, PR_GET_THP_DISABLE)),
    call("prctl", is(0, PR_GET_SPECULATION_CTRL)),
    call("prctl", is(0, PR_GET_TSC)),
    call("prctl", is(0, PR_GET_UNALIGN)),
    call("prctl", is(0, PR_GET_FPEMU)),
    call("prctl", is(0, PR_GET_FPEXC)),
    call("prctl", is(0, PR_GET_ENDIAN)),
    call("prctl", is(0, PR_GET_TIMING)),
    call("prctl", is(0, PR_MCE_KILL_GET)),
    call("prctl", is(0, PR_GET_TAGGED_ADDR_CTRL)),
    call("prctl", is(0, 0x41555856 /* PR_GET_AUXV */)),
};

constexpr Rule kDescriptorOptions[] = {
    call("fcntl", is(1, F_DUPFD)), call("fcntl", is(1, F_DUPFD_CLOEXEC)),
    call("fcntl", is(1, F_GETFD)), call("fcntl", is(1, F_SETFD)), call("fcntl", is(1, F_GETFL)),
    call("fcntl", is(1, F_SETFL)), call("fcntl", is(1, F_GETLK)), call("fcntl", is(1, F_SETLK)),
    call("fcntl", is(1, F_SETLKW)), call("fcntl", is(1, F_OFD_GETLK)),
    call("fcntl", is(1, F_OFD_SETLK)), call("fcntl", is(1, F_OFD_SETLKW)),
    call("fcntl", is(1, F_GETOWN)), call("fcntl", is(1, F_GETOWN_EX)),
    call("fcntl", is(1, F_GETSIG)), call("fcntl", is(1, F_GETLEASE)),
    call("fcntl", is(1, F_GETPIPE_SZ)), call("fcntl", is(1, F_GET_SEALS)),
    call("fcntl", is(1, F_ADD_SEALS)), call("fcntl", is(1, F_GET_RW_HINT)),
    call("fcntl", is(1, F_SET_RW_HINT)), call("fcntl", is(1, F_GET_FILE_RW_HINT)),
    call("fcntl", is(1, F_SET_FILE_RW_HINT)), call("ioctl", is(1, TCGETS)),
    call("ioctl", is(1, 0x802c542a /* TCGETS2 */)), call("ioctl", is(1, TIOCGWINSZ)),
    call("ioctl", is(1, TIOCGPGRP)), call("ioctl", is(1, FIONREAD)), call("ioctl", is(1, FIONBIO)),
    call("ioctl", is(1, FIOCLEX)), call("ioctl", is(1, FIONCLEX)),
};

// Pid 1's control socket, and socket pairs of a job. Naming an address in sendto is a connection.
constexpr Rule kSocketDescriptors[] = {
    call("recvmsg"), call("sendmsg"), call("recvfrom"), call("sendto", is_null(4)),
    call("shutdown"), call("getsockname"), call("getpeername"), call("getsockopt"),
    call("setsockopt", is(1, SOL_SOCKET), is(2, SO_SNDBUF)),
    call("setsockopt", is(1, SOL_SOCKET), is(2, SO_RCVBUF)),
    call("setsockopt", is(1, SOL_SOCKET), is(2, SO_SNDTIMEO)),
    call("setsockopt", is(1, SOL_SOCKET), is(2, SO_RCVTIMEO)),
    call("setsockopt", is(1, SOL_SOCKET), is(2, SO_REUSEADDR)),
    call("setsockopt", is(1, SOL_SOCKET), is(2, SO_KEEPALIVE)),
    call("setsockopt", is(1, SOL_SOCKET), is(2, SO_LINGER)),
};

// clone3 and openat2 keep their flags in memory, where a filter cannot look; libc falls back to the
// calls whose flags it can see. The others are too new for every libc to count on.
constexpr Rule kNewerThanTheList[] = {
    call("clone3"), call("openat2"), call("fchmodat2"), call("cachestat"), call("map_shadow_stack"),
    call("futex_wake"), call("futex_wait"), call("futex_requeue"), call("mseal"),
    call("set_mempolicy_home_node"), call("process_mrelease"), call("file_getattr"),
    call("getxattrat"), call("listxattrat"),
};

// inotify and leases would show what neighbours do with the files of a shared image.
constexpr Rule kWatching[] = {
    call("inotify_init"), call("inotify_init1"), call("inotify_add_watch"),
    call("inotify_rm_watch"),
};

// The cell's place on the machine (CPU, class, NUMA node) and what is charged to the whole uid.
constexpr Rule kNotTheirs[] = {
    call("sched_setaffinity"), call("mbind"), call("set_mempolicy"),
    call("sched_setparam", is(0, 0)), call("sched_setattr", is(0, 0)),
    call("fcntl", is(1, F_SETPIPE_SZ)), call("fcntl", is(1, F_SETOWN)),
    call("fcntl", is(1, F_SETOWN_EX)), call("fcntl", is(1, F_SETSIG)),
    call("fcntl", is(1, F_SETLEASE)), call("fcntl", is(1, F_NOTIFY)),
};

constexpr Rule kHugePages[] = {call("mmap", exactly(3, MAP_HUGETLB, MAP_HUGETLB))};

// glibc asks nscd before it reads /etc/passwd; a program's own socket() lacks SOCK_NONBLOCK.
constexpr Rule kNameServiceProbe[] = {
    call("socket", is(0, AF_UNIX), is(1, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)),
};

// A job's sync would flush the disks of the whole host. It cannot fail by contract.
constexpr Rule kFlushingTheHost[] = {call("sync"), call("syncfs")};

// Not compiled: these are the default. Kept so that the reasons are not lost, and tests see them.
constexpr Rule kReachingOthers[] = {
    call("ptrace"), call("process_vm_readv"), call("process_vm_writev"),
    call("pidfd_getfd"), call("kcmp"), call("perf_event_open"), call("move_pages"),
    call("migrate_pages"), call("lookup_dcookie"),
};
constexpr Rule kLeavingTheCell[] = {
    call("mount"), call("umount2"), call("pivot_root"), call("chroot"), call("unshare"),
    call("setns"), call("fsopen"), call("fsconfig"), call("fsmount"), call("fspick"),
    call("open_tree"), call("move_mount"), call("mount_setattr"), call("name_to_handle_at"),
    call("open_by_handle_at"), call("fanotify_init"), call("fanotify_mark"),
};
constexpr Rule kKernelSurface[] = {
    call("bpf"), call("userfaultfd"), call("io_uring_setup"), call("io_uring_enter"),
    call("io_uring_register"), call("io_setup"), call("seccomp"), call("memfd_secret"),
    call("modify_ldt"), call("remap_file_pages"), call("vmsplice"), call("uselib"),
};
// None of these is wiped between the jobs of a cell; keyrings have no namespace at all.
constexpr Rule kOutlivingTheJob[] = {
    call("add_key"), call("request_key"), call("keyctl"), call("shmget"), call("shmat"),
    call("shmctl"), call("shmdt"), call("msgget"), call("msgsnd"), call("msgrcv"), call("msgctl"),
    call("semget"), call("semop"), call("semctl"), call("semtimedop"), call("mq_open"),
    call("mq_unlink"),
};
constexpr Rule kTheMachine[] = {
    call("init_module"), call("finit_module"), call("delete_module"), call("kexec_load"),
    call("kexec_file_load"), call("reboot"), call("swapon"), call("swapoff"), call("quotactl"),
    call("iopl"), call("ioperm"), call("settimeofday"), call("clock_settime"), call("adjtimex"),
    call("clock_adjtime"), call("acct"), call("syslog"), call("vhangup"), call("sethostname"),
    call("setdomainname"), call("nfsservctl"),
};
// The daemon tells scratch from the rest (notify_files.cc).
constexpr Rule kChangingFiles[] = {
    call("creat"), call("unlink"), call("unlinkat"), call("rename"), call("renameat"),
    call("renameat2"), call("mkdir"), call("mkdirat"), call("rmdir"), call("link"), call("linkat"),
    call("symlink"), call("symlinkat"), call("mknod"), call("mknodat"), call("truncate"),
    call("chmod"), call("fchmodat"), call("chown"), call("lchown"), call("fchownat"), call("utime"),
    call("utimes"), call("futimesat"), call("setxattr"), call("lsetxattr"), call("removexattr"),
    call("lremovexattr"),
};

constexpr auto kAllow = Treatment::kAllow;
constexpr auto kQuiet = Treatment::kQuiet;
constexpr auto kNotify = Treatment::kNotify;

constexpr RuleGroup kBase[] = {
    {"descriptors one has", kAllow, 0, kDescriptors},
    {"files one has open", kAllow, 0, kFileDescriptors},
    {"looking at files the mounts show", kAllow, 0, kLooking},
    {"opening to read", kAllow, 0, kOpeningToRead},
    {"one's own memory", kAllow, 0, kMemory},
    {"clocks and timers", kAllow, 0, kTime},
    {"signals inside the cell", kAllow, 0, kSignals},
    {"facts about oneself", kAllow, 0, kOneself},
    {"giving up rights", kAllow, 0, kGivingUp},
    {"calls that could name another process", kAllow, 0, kSelfOnly},
    {"prctl, by option", kAllow, 0, kProcessOptions},
    {"fcntl and ioctl, by command", kAllow, 0, kDescriptorOptions},
    {"sockets that are already there", kAllow, 0, kSocketDescriptors},
    {"calls libc tries first", kQuiet, ENOSYS, kNewerThanTheList},
    {"watching shared files", kQuiet, ENOSYS, kWatching},
    {"the cell's place on the machine", kQuiet, EPERM, kNotTheirs},
    {"huge pages of the host", kQuiet, ENOMEM, kHugePages},
    {"the name service cache", kQuiet, EACCES, kNameServiceProbe},
    {"flushing the host's disks", kQuiet, 0, kFlushingTheHost},
    {"reaching other processes", kNotify, 0, kReachingOthers},
    {"leaving the cell", kNotify, 0, kLeavingTheCell},
    {"wide kernel interfaces", kNotify, 0, kKernelSurface},
    {"outliving the job", kNotify, 0, kOutlivingTheJob},
    {"the machine", kNotify, 0, kTheMachine},
    {"changing files by path", kNotify, 0, kChangingFiles},
};

// ---- default and up ----------------------------------------------------------------------------

// Never: a sibling of pid 1's children, a traced child, a namespace. Legacy clone cannot ask for a
// time namespace or a cgroup; clone3, which can, is refused.
constexpr uint64_t kForbiddenFlags = CLONE_PARENT | CLONE_PTRACE | CLONE_NEWNS | CLONE_NEWCGROUP |
                                     CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                     CLONE_NEWNET;
constexpr uint64_t kThreadFlags = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;

constexpr Rule kThreads[] = {
    call("clone", exactly(0, kThreadFlags, kThreadFlags | kForbiddenFlags)),
};
// Datagram pairs are left out: sendmsg on them can name any address. Type is the low four bits.
constexpr Rule kSocketPairs[] = {
    call("socketpair", is(0, AF_UNIX), exactly(1, SOCK_STREAM, 0xf)),
    call("socketpair", is(0, AF_UNIX), exactly(1, SOCK_SEQPACKET, 0xf)),
};
constexpr Rule kAnonymousFiles[] = {call("memfd_create", none_of(1, 4 /* MFD_HUGETLB */))};

constexpr RuleGroup kThreadsAndScratch[] = {
    {"threads", kAllow, 0, kThreads},
    {"pairs of connected sockets (asyncio)", kAllow, 0, kSocketPairs},
    {"files in memory", kAllow, 0, kAnonymousFiles},
};

// ---- subprocess and up -------------------------------------------------------------------------

constexpr Rule kProcesses[] = {
    call("clone", none_of(0, CLONE_THREAD | kForbiddenFlags)), call("fork"), call("vfork"),
};
constexpr Rule kPrograms[] = {call("execve"), call("execveat")};
// libuv (node and others) tries it whenever a loop starts. A program of `default` has no such
// excuse.
constexpr Rule kRings[] = {call("io_uring_setup")};

constexpr RuleGroup kProcessesOfTheImage[] = {
    {"processes", kAllow, 0, kProcesses},
    {"programs of the image", kAllow, 0, kPrograms},
    {"asynchronous rings", kQuiet, ENOSYS, kRings},
};

// ---- build -------------------------------------------------------------------------------------

// A build driver that adopts its orphans only keeps them from pid 1 until it ends itself.
constexpr Rule kBuildTools[] = {call("prctl", is(0, PR_SET_CHILD_SUBREAPER))};

constexpr RuleGroup kCompilers[] = {{"what build tools add", kAllow, 0, kBuildTools}};

// clang-format on
constexpr RuleLayer kLayers[] = {kBase, kThreadsAndScratch, kProcessesOfTheImage, kCompilers};

}  // namespace

// Each profile is the one before it and something more.
std::span<const RuleLayer> layers_of(Profile profile) {
  return std::span(kLayers).first(static_cast<size_t>(profile) + 1);
}

}  // namespace sandbox
