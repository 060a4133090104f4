#include "shim/fixed/state.h"

#include <errno.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "shim/fixed/fixed.h"

namespace fixed {
namespace {

enum class Mode : int { kUnknown, kOff, kOn };

// Long enough ago that a program may subtract, and short enough to be a plausible uptime.
constexpr int64_t kUptime = 100'000 * kSecond;
constexpr int64_t kUsedCpu = kSecond / 50;
constexpr int64_t kForever = INT64_MAX / 2;
constexpr uint64_t kGolden = 0x9E3779B97F4A7C15U;

std::atomic<Mode> mode{Mode::kUnknown};
std::atomic<int64_t> start_ns{0}, step_ns{0};
std::atomic<int64_t> ticks{0}, slept{0};  // what readings have added, and what sleeps have
std::atomic<uint64_t> key{0}, drawn{0};
std::atomic<long> birth{0};  // pid of the process that began
char path[4096], view_entry[128];

// splitmix64's finaliser.
uint64_t mix(uint64_t word) {
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
  return word ^ (word >> 31);
}

void begin(const shim::FixedView& view) {
  std::snprintf(view_entry, sizeof view_entry, "%s=%llu:%lld:%lld", shim::kFixedName,
                static_cast<unsigned long long>(view.seed), static_cast<long long>(view.start),
                static_cast<long long>(view.step_us));
  start_ns = view.start * kSecond;
  step_ns = view.step_us * 1000;
  ticks = 0;
  slept = 0;
  key = mix(view.seed + kGolden);
  drawn = 0;
  birth = raw_call(SYS_getpid);
  mode = Mode::kOn;
}

bool begin_from_environment() {
  const char* at = std::getenv(shim::kFixedName);
  if (!at) {
    mode = Mode::kOff;
    return false;
  }
  char* end = nullptr;
  shim::FixedView view;
  view.seed = std::strtoull(at, &end, 10);
  if (*end == ':') view.start = std::strtoll(end + 1, &end, 10);
  if (*end == ':') view.step_us = std::strtoll(end + 1, &end, 10);
  begin(view);
  return true;
}

// By the name by which it was preloaded.
void find_own_path() {
  Dl_info about{};
  if (::dladdr(path, &about) == 0 || !about.dli_fname || about.dli_fname[0] != '/') return;
  if (std::strlen(about.dli_fname) < sizeof path) std::strcpy(path, about.dli_fname);
}

// Before the program can fork: its children have to know that they are.
[[gnu::constructor]] void begin_early() {
  find_own_path();
  (void)fixed::is_on();
}

bool is_real_time(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ||
         clock == CLOCK_REALTIME_ALARM || clock == CLOCK_TAI;
}

}  // namespace

bool is_on() {
  const Mode now = mode.load(std::memory_order_relaxed);
  return now == Mode::kUnknown ? begin_from_environment() : now == Mode::kOn;
}

bool is_known(clockid_t clock) {
  constexpr clockid_t kSgiCycle = 10;
  return clock <= CLOCK_TAI && clock != kSgiCycle;
}

// Negative ones are those of other processes and threads (clock_getcpuclockid(3)).
bool counts_cpu(clockid_t clock) {
  return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0;
}

int64_t now(clockid_t clock) {
  if (counts_cpu(clock)) return kUsedCpu + ticks;
  return (is_real_time(clock) ? start_ns.load() : kUptime) + elapsed();
}

int64_t read(clockid_t clock) {
  const int64_t before = ticks.fetch_add(step_ns);
  if (counts_cpu(clock)) return kUsedCpu + before;
  return (is_real_time(clock) ? start_ns.load() : kUptime) + before + slept;
}

int64_t elapsed() { return ticks + slept; }

// A clock that stands still stands still in sleeps, too.
void pass_until(int64_t place) {
  if (step_ns == 0) return;
  for (int64_t before = slept; ticks + before < place;) {
    if (slept.compare_exchange_weak(before, place - ticks)) return;
  }
}

void TimedWait::end(End end) const {
  if (wanted_ <= 0 || end == End::kElse) return;
  const int64_t took = end == End::kTimeout ? wanted_ : real_now(CLOCK_MONOTONIC) - really_began_;
  pass_until(began_ + (took < wanted_ ? took : wanted_));
}

// A forked child has another sequence than its parent, and the same in every run.
uint64_t random_word() {
  const auto child = static_cast<uint64_t>(raw_call(SYS_getpid) - birth);
  const uint64_t own = child == 0 ? key.load() : mix(key + child);
  return mix(own + kGolden * (drawn.fetch_add(1) + 1));
}

void fill_random(void* at, size_t size) {
  auto* bytes = static_cast<unsigned char*>(at);
  for (size_t done = 0; done < size; done += sizeof(uint64_t)) {
    const uint64_t word = random_word();
    std::memcpy(bytes + done, &word, size - done < sizeof word ? size - done : sizeof word);
  }
}

// rt_sigprocmask(2) copies the set before it looks at `how`, which no kernel knows.
bool can_read(const void* at) {
  constexpr long kNoHow = 99;
  return at && raw_call(SYS_rt_sigprocmask, kNoHow, reinterpret_cast<long>(at), 0,
                        sizeof(uint64_t)) != -EFAULT;
}

timespec to_timespec(int64_t ns) { return {ns / kSecond, ns % kSecond}; }

int64_t to_ns(const timespec& time) {
  return time.tv_sec >= kForever / kSecond ? kForever : time.tv_sec * kSecond + time.tv_nsec;
}

const char* own_path() { return path; }
char* own_view() { return view_entry; }

int64_t real_now(clockid_t clock) {
  timespec time{};
  raw_call(SYS_clock_gettime, clock, reinterpret_cast<long>(&time));
  return to_ns(time);
}

long try_clock(clockid_t clock, timespec* into) {
  const clockid_t asked = counts_cpu(clock) ? clock : CLOCK_BOOTTIME;
  return raw_call(SYS_clock_gettime, asked, reinterpret_cast<long>(into));
}

long raw_call(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long answer = number;
  asm volatile("syscall"
               : "+a"(answer)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return answer;
}

long with_errno(long answer) {
  if (answer >= 0 || answer < -4095) return answer;
  errno = static_cast<int>(-answer);
  return -1;
}

}  // namespace fixed

ZYGO_HOOK void zygo_fixed_pause() { fixed::mode = fixed::Mode::kOff; }
ZYGO_HOOK void zygo_fixed_begin(const shim::FixedView* view) { fixed::begin(*view); }
