#include "sandbox/notify/words.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <span>

#include "sandbox/notify/address.h"
#include "sandbox/notify/memory.h"

namespace sandbox {
namespace {

struct Word {
  uint64_t value;
  const char* text;
};

constexpr Word kFamilies[] = {
    {AF_UNIX, "AF_UNIX"},       {AF_INET, "AF_INET"},           {AF_INET6, "AF_INET6"},
    {AF_NETLINK, "AF_NETLINK"}, {AF_PACKET, "AF_PACKET"},       {AF_ALG, "AF_ALG"},
    {AF_VSOCK, "AF_VSOCK"},     {AF_BLUETOOTH, "AF_BLUETOOTH"}, {AF_CAN, "AF_CAN"},
};
constexpr Word kSocketTypes[] = {
    {SOCK_STREAM, "SOCK_STREAM"},
    {SOCK_DGRAM, "SOCK_DGRAM"},
    {SOCK_RAW, "SOCK_RAW"},
    {SOCK_SEQPACKET, "SOCK_SEQPACKET"},
};
constexpr Word kCloneFlags[] = {
    {CLONE_NEWUSER, "CLONE_NEWUSER"},
    {CLONE_NEWNS, "CLONE_NEWNS"},
    {CLONE_NEWPID, "CLONE_NEWPID"},
    {CLONE_NEWNET, "CLONE_NEWNET"},
    {CLONE_NEWIPC, "CLONE_NEWIPC"},
    {CLONE_NEWUTS, "CLONE_NEWUTS"},
    {CLONE_NEWCGROUP, "CLONE_NEWCGROUP"},
    {CLONE_PARENT, "CLONE_PARENT"},
    {CLONE_PTRACE, "CLONE_PTRACE"},
    {CLONE_THREAD, "CLONE_THREAD"},
    {CLONE_VFORK, "CLONE_VFORK"},
    {CLONE_VM, "CLONE_VM"},
    {CLONE_FS, "CLONE_FS"},
    {CLONE_FILES, "CLONE_FILES"},
    {CLONE_SIGHAND, "CLONE_SIGHAND"},
};
// In unshare() and setns() the lowest byte is no signal.
constexpr Word kNamespaceFlags[] = {{CLONE_NEWTIME, "CLONE_NEWTIME"}};

constexpr Word kOptions[] = {
    {PR_SET_DUMPABLE, "PR_SET_DUMPABLE"},
    {PR_SET_SECCOMP, "PR_SET_SECCOMP"},
    {PR_SET_MM, "PR_SET_MM"},
    {PR_SET_PTRACER, "PR_SET_PTRACER"},
    {PR_SET_KEEPCAPS, "PR_SET_KEEPCAPS"},
    {PR_SET_SECUREBITS, "PR_SET_SECUREBITS"},
    {PR_SET_CHILD_SUBREAPER, "PR_SET_CHILD_SUBREAPER"},
    {PR_CAP_AMBIENT, "PR_CAP_AMBIENT"},
    {PR_SET_TSC, "PR_SET_TSC"},
    {PR_SET_THP_DISABLE, "PR_SET_THP_DISABLE"},
    {PR_MCE_KILL, "PR_MCE_KILL"},
    {PR_SET_SPECULATION_CTRL, "PR_SET_SPECULATION_CTRL"},
    {PR_SET_IO_FLUSHER, "PR_SET_IO_FLUSHER"},
    {PR_SET_TIMING, "PR_SET_TIMING"},
    {PR_TASK_PERF_EVENTS_DISABLE, "PR_TASK_PERF_EVENTS_DISABLE"},
    {PR_TASK_PERF_EVENTS_ENABLE, "PR_TASK_PERF_EVENTS_ENABLE"},
};
constexpr Word kRequests[] = {{TIOCSTI, "TIOCSTI"}, {TIOCLINUX, "TIOCLINUX"}};
constexpr Word kTraces[] = {
    {PTRACE_TRACEME, "PTRACE_TRACEME"},   {PTRACE_ATTACH, "PTRACE_ATTACH"},
    {PTRACE_SEIZE, "PTRACE_SEIZE"},       {PTRACE_PEEKDATA, "PTRACE_PEEKDATA"},
    {PTRACE_PEEKTEXT, "PTRACE_PEEKTEXT"}, {PTRACE_POKEDATA, "PTRACE_POKEDATA"},
    {PTRACE_POKETEXT, "PTRACE_POKETEXT"},
};
constexpr Word kLimits[] = {
    {RLIMIT_CPU, "RLIMIT_CPU"},         {RLIMIT_NOFILE, "RLIMIT_NOFILE"},
    {RLIMIT_AS, "RLIMIT_AS"},           {RLIMIT_DATA, "RLIMIT_DATA"},
    {RLIMIT_NPROC, "RLIMIT_NPROC"},     {RLIMIT_FSIZE, "RLIMIT_FSIZE"},
    {RLIMIT_STACK, "RLIMIT_STACK"},     {RLIMIT_CORE, "RLIMIT_CORE"},
    {RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK"},
};

std::string hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string word_of(std::span<const Word> words, uint64_t value) {
  for (const Word& word : words) {
    if (word.value == value) return word.text;
  }
  return hex(value);
}

void add_flags(std::string& out, std::span<const Word> words, uint64_t* flags) {
  for (const Word& word : words) {
    if ((*flags & word.value) != word.value) continue;
    out += (out.empty() ? "" : "|") + std::string(word.text);
    *flags &= ~word.value;
  }
}

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(number);
}

// One notice, with its arguments as the kernel reads them.
struct Call {
  std::string_view name;
  const Notice& notice;

  uint64_t word(int i) const { return notice.args[i]; }
  uint32_t low(int i) const { return static_cast<uint32_t>(notice.args[i]); }
  int number(int i) const { return static_cast<int>(low(i)); }
  std::string pid(int i) const { return "pid " + std::to_string(number(i)); }
  std::string raw_path(int i) const {
    return Caller{notice.pid, notice.reader}.path(word(i)).value_or("unreadable");
  }
  std::string path(int i) const { return escaped(raw_path(i)); }
};

std::string nothing(const Call&) { return {}; }
std::string first_path(const Call& call) { return call.path(0); }
std::string second_path(const Call& call) { return call.path(1); }
std::string socket_words(const Call& call) {
  return word_of(kFamilies, call.low(0)) + " " + word_of(kSocketTypes, call.low(1) & 0xf);
}
std::string address_at(const Call& call, int at, int size) {
  std::optional<std::string> bytes = Caller{call.notice.pid, call.notice.reader}.bytes(
      call.word(at), std::min<uint32_t>(call.low(size), 128));
  return bytes ? escaped(address_text(*bytes)) : "unreadable";
}
std::string address_words(const Call& call) { return address_at(call, 1, 2); }
std::string sendto_words(const Call& call) { return address_at(call, 4, 5); }
std::string mount_words(const Call& call) {
  return escaped(call.raw_path(0) + " on " + call.raw_path(1));
}
std::string signal_words(const Call& call) {
  return call.pid(0) + " " + signal_name(call.number(1));
}
std::string tgkill_words(const Call& call) {
  return call.pid(1) + " " + signal_name(call.number(2));
}
std::string pidfd_signal_words(const Call& call) {
  return "pidfd " + std::to_string(call.number(0)) + " " + signal_name(call.number(1));
}
std::string group_words(const Call& call) {
  return call.pid(0) + " group " + std::to_string(call.number(1));
}
std::string clone_words(const Call& call) {
  uint64_t flags = call.low(0) & ~uint32_t{CSIGNAL};
  std::string out;
  add_flags(out, kCloneFlags, &flags);
  return out.empty() ? "new process" : out;
}
std::string fork_words(const Call&) { return "new process"; }
std::string namespace_words(uint64_t flags) {
  std::string out;
  add_flags(out, kCloneFlags, &flags);
  add_flags(out, kNamespaceFlags, &flags);
  return out.empty() ? hex(flags) : out;
}
std::string unshare_words(const Call& call) { return namespace_words(call.low(0)); }
std::string setns_words(const Call& call) { return namespace_words(call.low(1)); }
std::string prctl_words(const Call& call) {
  return word_of(kOptions, call.low(0)) + " " + hex(call.word(1));
}
std::string ioctl_words(const Call& call) { return word_of(kRequests, call.low(1)); }
std::string ptrace_words(const Call& call) {
  return word_of(kTraces, call.word(0)) + " " + call.pid(1);
}
std::string limit_words(const Call& call) {
  return call.pid(0) + " " + word_of(kLimits, call.low(1));
}
std::string pid_words(const Call& call) { return call.pid(0); }
std::string second_pid_words(const Call& call) { return call.pid(1); }

constexpr struct {
  const char* call;
  std::string (*words)(const Call&);
} kWordings[] = {
    {"socket", socket_words},
    {"socketpair", socket_words},
    {"connect", address_words},
    {"bind", address_words},
    {"sendto", sendto_words},
    {"execve", first_path},
    {"execveat", second_path},
    {"clone", clone_words},
    {"fork", fork_words},
    {"vfork", fork_words},
    {"unshare", unshare_words},
    {"setns", setns_words},
    {"prctl", prctl_words},
    {"ioctl", ioctl_words},
    {"ptrace", ptrace_words},
    {"prlimit64", limit_words},
    {"process_vm_readv", pid_words},
    {"process_vm_writev", pid_words},
    {"kcmp", pid_words},
    {"migrate_pages", pid_words},
    {"move_pages", pid_words},
    {"sched_setscheduler", pid_words},
    {"sched_setparam", pid_words},
    {"sched_setattr", pid_words},
    {"setpriority", second_pid_words},
    {"ioprio_set", second_pid_words},
    {"kill", signal_words},
    {"tkill", signal_words},
    {"tgkill", tgkill_words},
    {"rt_sigqueueinfo", signal_words},
    {"rt_tgsigqueueinfo", tgkill_words},
    {"pidfd_send_signal", pidfd_signal_words},
    {"pidfd_open", pid_words},
    {"setpgid", group_words},
    {"setsid", nothing},
    {"mount", mount_words},
    {"umount2", first_path},
    {"chroot", first_path},
    {"pivot_root", first_path},
    {"swapon", first_path},
    {"swapoff", first_path},
    {"acct", first_path},
    {"uselib", first_path},
    {"mq_open", first_path},
    {"mq_unlink", first_path},
    {"fsopen", first_path},
    {"memfd_create", first_path},
    {"name_to_handle_at", second_path},
    {"open_tree", second_path},
    {"vhangup", nothing},
    {"memfd_secret", nothing},
};

unsigned char byte_at(std::string_view text, size_t i) {
  return static_cast<unsigned char>(text[i]);
}

size_t length_by_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return 2;
  if (lead < 0xf0) return 3;
  return lead < 0xf5 ? 4 : 0;
}

// Length of the UTF-8 sequence at `at`, or 0 if it is none.
size_t utf8_length(std::string_view text, size_t at) {
  unsigned char lead = byte_at(text, at);
  size_t length = length_by_lead(lead);
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte_at(text, at + i) & 0xc0) != 0x80) return 0;
  }
  if (length < 3) return length;
  unsigned char next = byte_at(text, at + 1);  // overlong forms, surrogates, beyond U+10FFFF
  bool broken = (lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f) ||
                (lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next > 0x8f);
  return broken ? 0 : length;
}

std::string escaped_piece(std::string_view text, size_t at, size_t length) {
  unsigned char c = static_cast<unsigned char>(text[at]);
  if (length == 1 && c == '\n') return "\\n";
  if (length == 1 && c == '\\') return "\\\\";
  // C1 controls (U+0080 to U+009F) move cursors, too.
  bool control = c < 0x20 || c == 0x7f ||
                 (c == 0xc2 && length == 2 && static_cast<unsigned char>(text[at + 1]) < 0xa0);
  if (length > 0 && !control) return std::string(text.substr(at, length));
  std::string out;
  for (size_t i = at; i < at + (length == 0 ? 1 : length); ++i) {
    char piece[8];
    std::snprintf(piece, sizeof piece, "\\x%02x", static_cast<unsigned char>(text[i]));
    out += piece;
  }
  return out;
}

}  // namespace

std::string escaped(std::string_view hostile) {
  std::string out;
  for (size_t at = 0; at < hostile.size();) {
    size_t length = utf8_length(hostile, at);
    std::string piece = escaped_piece(hostile, at, length);
    if (out.size() + piece.size() > kMaxArgument - 3) return out + "...";
    out += piece;
    at += length == 0 ? 1 : length;
  }
  return out;
}

std::string describe_arguments(std::string_view name, const Notice& notice) {
  Call call{name, notice};
  for (const auto& wording : kWordings) {
    if (name == wording.call) return wording.words(call);
  }
  return hex(call.word(0)) + ", " + hex(call.word(1)) + ", " + hex(call.word(2));
}

}  // namespace sandbox
