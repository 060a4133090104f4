#include "sandbox/notify/notify.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "sandbox/notify/attributes.h"
#include "sandbox/notify/files.h"
#include "sandbox/notify/words.h"
#include "sandbox/seccomp/profiles.h"
#include "sandbox/seccomp/report.h"
#include "sandbox/seccomp/syscall_names.h"

// Linux 6.6; absent from older headers.
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

namespace sandbox {
namespace {

// Newer kernels may have longer structures than our headers, and write all of them.
union ReceiveBuffer {
  seccomp_notif notif;
  std::byte room[512];
};
union SendBuffer {
  seccomp_notif_resp response;
  std::byte room[256];
};

bool structures_fit() {
  static const bool fit = [] {
    seccomp_notif_sizes sizes{};
    if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0) return false;
    return sizes.seccomp_notif <= sizeof(ReceiveBuffer) &&
           sizes.seccomp_notif_resp <= sizeof(SendBuffer);
  }();
  return fit;
}

enum class Waiting : uint8_t { kCall, kNothing, kNobodyLeft };

Waiting look_at(int listener) {
  pollfd poll = {.fd = listener, .events = POLLIN, .revents = 0};
  if (::poll(&poll, 1, 0) <= 0) return Waiting::kNothing;
  if ((poll.revents & POLLIN) != 0) return Waiting::kCall;
  return (poll.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 ? Waiting::kNobodyLeft
                                                              : Waiting::kNothing;
}

Notice notice_of(const seccomp_notif& notif) {
  Notice notice = {.id = notif.id,
                   .pid = static_cast<int>(notif.pid),
                   .nr = notif.data.nr,
                   .arch = notif.data.arch,
                   .args = {},
                   .ip = notif.data.instruction_pointer};
  static_assert(sizeof notice.args == sizeof notif.data.args);
  std::memcpy(notice.args, notif.data.args, sizeof notice.args);
  return notice;
}

// False when the caller died: its pid may be another process's by now.
bool still_waiting(int listener, const Notice& notice) {
  uint64_t id = notice.id;
  return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

Ruling refuse(std::string call, std::string argument) {
  Ruling ruling;
  ruling.refusal = Refusal{std::move(call), std::move(argument), EPERM};
  ruling.error = EPERM;
  return ruling;
}

Ruling rule_on_files(const FileCall& call, const CellView& cell, const Notice& notice) {
  FileReach reached = reach_of(call, cell, notice);
  // `pure` writes nowhere, so a path that nobody can see through is no excuse there.
  bool writes_allowed = cell.profile != Profile::kPure;
  auto refusal = [&](std::string argument) {
    return refuse(name_of_call(notice.arch, notice.nr), std::move(argument));
  };
  switch (reached.reach) {
    case Reach::kNothing:
      return go_on();
    case Reach::kScratch:
    case Reach::kUnknown:
      return writes_allowed ? go_on() : refusal(escaped(reached.path));
    case Reach::kUnreadable:
      return writes_allowed ? go_on() : refusal("unreadable");
    case Reach::kOutside:
      return refusal(escaped(reached.path));
    case Reach::kUnseen: {
      Ruling ruling = fail_quietly(EMFILE);
      ruling.unseen = true;
      return ruling;
    }
  }
  return refusal("");
}

// Settles what a filter of exact matches cannot say: "every other command". Programs try commands
// on whatever descriptor they have and expect to be told that it does not know them.
std::optional<int> quiet_error(std::string_view call, const Notice& notice) {
  constexpr uint32_t kPushInput = 0x5412, kConsole = 0x541c;  // TIOCSTI, TIOCLINUX
  uint32_t command = static_cast<uint32_t>(notice.args[1]);
  if (call == "ioctl" && command != kPushInput && command != kConsole) return ENOTTY;
  if (call == "fcntl") return EINVAL;
  return std::nullopt;
}

// The calls that a variant of the filter counts or compares, and what they are about.
constexpr struct {
  std::string_view call;
  Asks asks;
} kAsking[] = {
    {"clone", Asks::kProcess},
    {"fork", Asks::kProcess},
    {"vfork", Asks::kProcess},
    {"memfd_create", Asks::kMemfd},
    {"pipe", Asks::kPipe},
    {"pipe2", Asks::kPipe},
    {"kill", Asks::kSignal},
    {"tkill", Asks::kSignal},
    {"tgkill", Asks::kSignal},
    {"rt_sigqueueinfo", Asks::kSignal},
    {"rt_tgsigqueueinfo", Asks::kSignal},
    {"pidfd_send_signal", Asks::kSignal},
};

// A call that the profile itself allows is notified only because the cell's filter counts it.
Asks asked_by(std::string_view name, Profile profile, const Notice& notice) {
  for (const auto& asking : kAsking) {
    if (name != asking.call) continue;
    const sys::Result<RuleGroups>& groups = rules_of(profile);
    if (!groups) return Asks::kNothing;
    FilterVariant all;  // where code may be made, more is allowed, and what is asked is allowed
    all.makes_code = true;
    bool allowed = settle(*groups, all, notice.nr, notice.args).treatment == Treatment::kAllow;
    return allowed ? asking.asks : Asks::kNothing;
  }
  return Asks::kNothing;
}

SignalAsked signal_of(std::string_view name, const Notice& notice) {
  auto number = [&](int i) { return static_cast<int>(static_cast<uint32_t>(notice.args[i])); };
  if (name == "tgkill" || name == "rt_tgsigqueueinfo") {
    return {SignalAsked::To::kThread, number(1), number(0), number(2)};
  }
  if (name == "tkill") return {SignalAsked::To::kThread, number(0), 0, number(1)};
  if (name == "pidfd_send_signal") return {SignalAsked::To::kPidfd, number(0), 0, number(1)};
  return {SignalAsked::To::kProcess, number(0), 0, number(1)};
}

Ruling refuse_what_asks(std::string name, Asks asks, const Notice& notice) {
  Ruling ruling;
  if (asks == Asks::kSignal) ruling.signal = signal_of(name, notice);
  ruling.refusal = Refusal{std::move(name), "", EPERM};
  ruling.error = EPERM;
  ruling.asks = asks;
  return ruling;
}

std::optional<Ruling> rule_call_by_registers(const CellView& cell, const Notice& notice) {
  std::string name = name_of_call(notice.arch, notice.nr);
  if (!is_native(notice.arch, notice.nr)) return refuse(std::move(name), "");
  if (changes_attributes(cell, notice) || file_call(notice.nr) != nullptr) return std::nullopt;
  if (std::optional<int> error = quiet_error(name, notice); error) return fail_quietly(*error);
  const Asks asks = asked_by(name, cell.profile, notice);
  if (asks == Asks::kNothing) return std::nullopt;
  return refuse_what_asks(std::move(name), asks, notice);
}

Ruling rule_call(int listener, const CellView& cell, const Notice& notice) {
  const std::optional<Ruling> told = rule_call_by_registers(cell, notice);
  if (told && told->asks == Asks::kNothing) return *told;
  if (changes_attributes(cell, notice)) return rule_on_attributes(cell, notice);
  if (const FileCall* call = file_call(notice.nr); call != nullptr) {
    Ruling ruling = rule_on_files(*call, cell, notice);
    return still_waiting(listener, notice) ? ruling : fail_quietly(EPERM);
  }
  std::string name = name_of_call(notice.arch, notice.nr);
  std::string argument = describe_arguments(name, notice);
  // A caller that died in the middle was killed by somebody; its attempt stands, our reading of
  // its memory does not.
  if (!still_waiting(listener, notice)) argument = "unreadable";
  Ruling ruling = told ? *told : refuse(std::move(name), {});
  ruling.refusal->argument = std::move(argument);
  return ruling;
}

// The trapped call that a report speaks of, as if it had been notified.
std::optional<Notice> reported(const Notice& report) {
  if (!is_native(report.arch, report.nr) || report.nr != kTrapReportCall) return std::nullopt;
  if (static_cast<uint32_t>(report.args[0]) != kTrapReportOption) return std::nullopt;
  Notice original = report;
  original.nr = static_cast<int>(report.args[0] >> 32);
  std::memmove(original.args, report.args + 1, 5 * sizeof original.args[0]);
  original.args[5] = 0;
  return original;
}

// A trapped call is not done whatever we say; where it would have been legal, the filter around us
// refuses it, and nobody is to blame.
Ruling of_report(Ruling ruling) {
  return ruling.proceed || ruling.asks != Asks::kNothing ? fail_quietly(EPERM) : ruling;
}

// Pid 1 forks jobs and wipes after them. Its number cannot be another's while the cell lives.
bool is_by_init(const CellView& cell, const Notice& notice) {
  return notice.pid > 0 && notice.pid == cell.init_pid;
}

}  // namespace

Ruling go_on() {
  Ruling ruling;
  ruling.proceed = true;
  return ruling;
}

Ruling fail_quietly(int error) {
  Ruling ruling;
  ruling.error = error;
  return ruling;
}

bool prepare_listener(int listener) {
  return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
                 static_cast<unsigned long>(SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)) == 0;
}

sys::Result<std::optional<Notice>> receive_notice(int listener) {
  if (!structures_fit()) return sys::Error::because("seccomp notifications: unknown layout");
  // The kernel's receive blocks whatever the flags of the descriptor, so ask first. We are the only
  // reader; a caller that dies in between leaves a wake-up behind, and receive says ENOENT.
  switch (look_at(listener)) {
    case Waiting::kCall:
      break;
    case Waiting::kNothing:
      return std::optional<Notice>();
    case Waiting::kNobodyLeft:
      return sys::Error::from_errno("receive seccomp notification", EPIPE);
  }
  ReceiveBuffer buffer;
  std::memset(&buffer, 0, sizeof buffer);  // or EINVAL
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &buffer) == 0) {
    return std::optional<Notice>(notice_of(buffer.notif));
  }
  if (errno == ENOENT || errno == EINTR || errno == EAGAIN) return std::optional<Notice>();
  return sys::Error::from_errno("receive seccomp notification");
}

Ruling rule(int listener, const CellView& cell, const Notice& notice) {
  if (is_by_init(cell, notice)) return go_on();
  if (std::optional<Notice> original = reported(notice))
    return of_report(rule_call(listener, cell, *original));
  return rule_call(listener, cell, notice);
}

std::optional<Ruling> rule_by_registers(const CellView& cell, const Notice& notice) {
  if (is_by_init(cell, notice)) return go_on();
  std::optional<Ruling> ruling;
  if (std::optional<Notice> original = reported(notice)) {
    ruling = rule_call_by_registers(cell, *original);
    if (ruling) ruling = of_report(*std::move(ruling));
  } else {
    ruling = rule_call_by_registers(cell, notice);
  }
  return ruling;
}

sys::Result<void> answer(int listener, const Notice& notice, const Ruling& ruling) {
  if (!structures_fit()) return sys::Error::because("seccomp notifications: unknown layout");
  SendBuffer buffer;
  std::memset(&buffer, 0, sizeof buffer);
  buffer.response.id = notice.id;
  if (ruling.proceed) {
    buffer.response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  } else {
    int error = ruling.refusal ? ruling.refusal->error : ruling.error;
    buffer.response.error = -error;
  }
  while (::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &buffer) < 0) {
    if (errno == ENOENT || errno == EINPROGRESS) return {};
    if (errno != EINTR) return sys::Error::from_errno("answer seccomp notification");
  }
  return {};
}

}  // namespace sandbox
