#include "sandbox/seccomp/profile_words.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace sandbox {
namespace {

struct Word {
  std::string_view name;
  uint32_t value;
};

// A constant of the headers, by its own name; or one that they lack or keep elsewhere.
#define ZYGO_WORD(name) \
  Word { #name, static_cast < uint32_t>(name) }
constexpr Word word(std::string_view name, uint32_t value) { return {name, value}; }

constexpr Word kOpening[] = {
    ZYGO_WORD(O_ACCMODE), ZYGO_WORD(O_RDONLY), ZYGO_WORD(O_WRONLY),   ZYGO_WORD(O_RDWR),
    ZYGO_WORD(O_CREAT),   ZYGO_WORD(O_TRUNC),  ZYGO_WORD(O_APPEND),   ZYGO_WORD(O_NONBLOCK),
    ZYGO_WORD(O_CLOEXEC), ZYGO_WORD(O_PATH),   ZYGO_WORD(O_NOFOLLOW), ZYGO_WORD(O_DIRECTORY),
};
constexpr Word kMemory[] = {
    ZYGO_WORD(PROT_WRITE),
    ZYGO_WORD(PROT_EXEC),
    ZYGO_WORD(MAP_ANONYMOUS),
    ZYGO_WORD(MAP_HUGETLB),
    word("MFD_HUGETLB", 4),                             // linux/memfd.h; not with sys/mman.h
    word("PIDFD_SELF_THREAD_GROUP", uint32_t(-10000)),  // Linux 6.15
    ZYGO_WORD(MADV_NORMAL),
    ZYGO_WORD(MADV_RANDOM),
    ZYGO_WORD(MADV_SEQUENTIAL),
    ZYGO_WORD(MADV_WILLNEED),
    ZYGO_WORD(MADV_DONTNEED),
    ZYGO_WORD(MADV_FREE),
    ZYGO_WORD(MADV_DONTFORK),
    ZYGO_WORD(MADV_DOFORK),
    ZYGO_WORD(MADV_MERGEABLE),
    ZYGO_WORD(MADV_UNMERGEABLE),
    ZYGO_WORD(MADV_HUGEPAGE),
    ZYGO_WORD(MADV_NOHUGEPAGE),
    ZYGO_WORD(MADV_DONTDUMP),
    ZYGO_WORD(MADV_DODUMP),
    ZYGO_WORD(MADV_WIPEONFORK),
    ZYGO_WORD(MADV_KEEPONFORK),
    word("MADV_COLD", 20),
    word("MADV_PAGEOUT", 21),
    word("MADV_POPULATE_READ", 22),  // Linux 5.14
    word("MADV_POPULATE_WRITE", 23),
    word("MADV_COLLAPSE", 25),        // Linux 6.1
    word("MADV_GUARD_INSTALL", 102),  // Linux 6.13
    word("MADV_GUARD_REMOVE", 103),
    word("ARCH_SET_GS", 0x1001),  // asm/prctl.h
    word("ARCH_SET_FS", 0x1002),
    word("ARCH_GET_FS", 0x1003),
    word("ARCH_GET_GS", 0x1004),
    word("ARCH_GET_XCOMP_SUPP", 0x1021),
    word("ARCH_GET_XCOMP_PERM", 0x1022),
    word("ARCH_REQ_XCOMP_PERM", 0x1023),
};
constexpr Word kProcesses[] = {
    ZYGO_WORD(CLONE_VM),      ZYGO_WORD(CLONE_FS),           ZYGO_WORD(CLONE_FILES),
    ZYGO_WORD(CLONE_SIGHAND), ZYGO_WORD(CLONE_THREAD),       ZYGO_WORD(CLONE_VFORK),
    ZYGO_WORD(CLONE_PARENT),  ZYGO_WORD(CLONE_PTRACE),       ZYGO_WORD(CLONE_NEWNS),
    ZYGO_WORD(CLONE_NEWUTS),  ZYGO_WORD(CLONE_NEWIPC),       ZYGO_WORD(CLONE_NEWUSER),
    ZYGO_WORD(CLONE_NEWPID),  ZYGO_WORD(CLONE_NEWNET),       ZYGO_WORD(CLONE_NEWCGROUP),
    ZYGO_WORD(PRIO_PROCESS),  ZYGO_WORD(SCHED_IDLE),         ZYGO_WORD(SCHED_OTHER),
    ZYGO_WORD(SCHED_BATCH),   word("IOPRIO_WHO_PROCESS", 1),  // linux/ioprio.h, since 5.15
};
constexpr Word kOptions[] = {
    ZYGO_WORD(PR_SET_NAME),
    ZYGO_WORD(PR_GET_NAME),
    ZYGO_WORD(PR_SET_PDEATHSIG),
    ZYGO_WORD(PR_GET_PDEATHSIG),
    ZYGO_WORD(PR_SET_DUMPABLE),
    ZYGO_WORD(PR_GET_DUMPABLE),
    ZYGO_WORD(PR_SET_NO_NEW_PRIVS),
    ZYGO_WORD(PR_GET_NO_NEW_PRIVS),
    ZYGO_WORD(PR_CAPBSET_READ),
    ZYGO_WORD(PR_CAPBSET_DROP),
    ZYGO_WORD(PR_CAP_AMBIENT),
    ZYGO_WORD(PR_CAP_AMBIENT_CLEAR_ALL),
    ZYGO_WORD(PR_CAP_AMBIENT_IS_SET),
    ZYGO_WORD(PR_SET_TIMERSLACK),
    ZYGO_WORD(PR_GET_TIMERSLACK),
    ZYGO_WORD(PR_GET_KEEPCAPS),
    ZYGO_WORD(PR_GET_SECCOMP),
    ZYGO_WORD(PR_GET_SECUREBITS),
    ZYGO_WORD(PR_SET_CHILD_SUBREAPER),
    ZYGO_WORD(PR_GET_CHILD_SUBREAPER),
    ZYGO_WORD(PR_GET_TID_ADDRESS),
    ZYGO_WORD(PR_GET_THP_DISABLE),
    ZYGO_WORD(PR_SET_THP_DISABLE),
    ZYGO_WORD(PR_GET_SPECULATION_CTRL),
    ZYGO_WORD(PR_GET_TSC),
    ZYGO_WORD(PR_GET_UNALIGN),
    ZYGO_WORD(PR_GET_FPEMU),
    ZYGO_WORD(PR_GET_FPEXC),
    ZYGO_WORD(PR_GET_ENDIAN),
    ZYGO_WORD(PR_GET_TIMING),
    ZYGO_WORD(PR_MCE_KILL_GET),
    ZYGO_WORD(PR_GET_TAGGED_ADDR_CTRL),
    word("PR_SET_VMA", 0x53564d41),   // Linux 5.17
    word("PR_GET_AUXV", 0x41555856),  // Linux 6.4
};
constexpr Word kCommands[] = {
    ZYGO_WORD(F_DUPFD),
    ZYGO_WORD(F_DUPFD_CLOEXEC),
    ZYGO_WORD(F_GETFD),
    ZYGO_WORD(F_SETFD),
    ZYGO_WORD(F_GETFL),
    ZYGO_WORD(F_SETFL),
    ZYGO_WORD(F_GETLK),
    ZYGO_WORD(F_SETLK),
    ZYGO_WORD(F_SETLKW),
    ZYGO_WORD(F_OFD_GETLK),
    ZYGO_WORD(F_OFD_SETLK),
    ZYGO_WORD(F_OFD_SETLKW),
    ZYGO_WORD(F_GETOWN),
    ZYGO_WORD(F_SETOWN),
    ZYGO_WORD(F_GETOWN_EX),
    ZYGO_WORD(F_SETOWN_EX),
    ZYGO_WORD(F_GETSIG),
    ZYGO_WORD(F_SETSIG),
    ZYGO_WORD(F_GETLEASE),
    ZYGO_WORD(F_SETLEASE),
    ZYGO_WORD(F_NOTIFY),
    ZYGO_WORD(F_GETPIPE_SZ),
    ZYGO_WORD(F_SETPIPE_SZ),
    ZYGO_WORD(F_GET_SEALS),
    ZYGO_WORD(F_ADD_SEALS),
    ZYGO_WORD(F_GET_RW_HINT),
    ZYGO_WORD(F_SET_RW_HINT),
    ZYGO_WORD(F_GET_FILE_RW_HINT),
    ZYGO_WORD(F_SET_FILE_RW_HINT),
    ZYGO_WORD(TCGETS),
    word("TCGETS2", 0x802c542a),  // its macro needs a structure of asm/termbits.h
    ZYGO_WORD(TIOCGWINSZ),
    ZYGO_WORD(TIOCGPGRP),
    ZYGO_WORD(FIONREAD),
    ZYGO_WORD(FIONBIO),
    ZYGO_WORD(FIOCLEX),
    ZYGO_WORD(FIONCLEX),
};
constexpr Word kSockets[] = {
    ZYGO_WORD(AF_UNIX),      ZYGO_WORD(AF_INET),          ZYGO_WORD(AF_INET6),
    ZYGO_WORD(SOCK_STREAM),  ZYGO_WORD(SOCK_DGRAM),       ZYGO_WORD(SOCK_SEQPACKET),
    ZYGO_WORD(SOCK_CLOEXEC), ZYGO_WORD(SOCK_NONBLOCK),    ZYGO_WORD(SOL_SOCKET),
    ZYGO_WORD(SO_SNDBUF),    ZYGO_WORD(SO_RCVBUF),        ZYGO_WORD(SO_SNDTIMEO),
    ZYGO_WORD(SO_RCVTIMEO),  ZYGO_WORD(SO_REUSEADDR),     ZYGO_WORD(SO_KEEPALIVE),
    ZYGO_WORD(SO_LINGER),    word("SOCK_TYPE_MASK", 0xf),  // the kernel's own name for it
};
#undef ZYGO_WORD

template <size_t N>
std::optional<uint32_t> find(const Word (&words)[N], std::string_view name) {
  const Word* found = std::ranges::find(words, name, &Word::name);
  return found == std::end(words) ? std::nullopt : std::optional(found->value);
}

}  // namespace

std::optional<uint32_t> word_value(std::string_view name) {
  std::optional<uint32_t> value = find(kOpening, name);
  if (!value) value = find(kMemory, name);
  if (!value) value = find(kProcesses, name);
  if (!value) value = find(kOptions, name);
  if (!value) value = find(kCommands, name);
  if (!value) value = find(kSockets, name);
  return value;
}

std::optional<int> errno_named(std::string_view name) {
  constexpr int kLastErrno = 133;  // EHWPOISON
  for (int number = 1; number <= kLastErrno; ++number) {
    const char* known = ::strerrorname_np(number);
    if (known != nullptr && name == known) return number;
  }
  return std::nullopt;
}

}  // namespace sandbox
