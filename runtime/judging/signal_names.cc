#include "runtime/judging/signal_names.h"

#include <array>
#include <string_view>

namespace runtime {

namespace {
// signal(7), the numbers of x86 and ARM.
constexpr std::array<std::string_view, 32> kNames = {
    "",          "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
    "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
    "SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
    "SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS"};
constexpr int kFirstRealTime = 34;  // glibc keeps 32 and 33 for itself
constexpr int kLastRealTime = 64;
}  // namespace

std::string signal_name(int number) {
  if (number > 0 && number < static_cast<int>(kNames.size())) {
    return std::string(kNames[static_cast<size_t>(number)]);
  }
  if (number == kFirstRealTime) return "SIGRTMIN";
  if (number > kFirstRealTime && number <= kLastRealTime) {
    return "SIGRTMIN+" + std::to_string(number - kFirstRealTime);
  }
  return "signal " + std::to_string(number);
}

std::optional<int> signal_number(std::string_view name) {
  for (int number = 1; number <= kLastRealTime; ++number) {
    if (signal_name(number) == name) return number;
  }
  return std::nullopt;
}

}  // namespace runtime
