#pragma once
// What the calls of this library share: whether they are in force, the clock, the generator.
// Everything is lock-free, so that it works after a fork and in a signal handler. No part of the
// C++ library is linked.

#include <dlfcn.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

#define ZYGO_HOOK extern "C" __attribute__((visibility("default")))

namespace fixed {

constexpr int64_t kSecond = 1'000'000'000;

// False: the calls do as ever. Reads the environment when it is first asked.
bool is_on();

// Nanoseconds of that clock. `read` is a program's reading, which the next one finds further on.
int64_t now(clockid_t clock);
int64_t read(clockid_t clock);
bool is_known(clockid_t clock);
// Of CPU time: what sleeps is none.
bool counts_cpu(clockid_t clock);

int64_t real_now(clockid_t clock);
// The kernel's word on the pointer, and on clocks of processes that may not be there: 0 or -errno.
// That it has clocks of alarms depends on the machine, and is not asked.
long try_clock(clockid_t clock, timespec* into);

// What a program that is started needs to be fixed as this one is: the file of this library, or ""
// where that cannot be told, and the variable's "NAME=VALUE".
const char* own_path();
char* own_view();

// The place of all clocks; moves on to `place`, if it is not there yet.
int64_t elapsed();
void pass_until(int64_t place);

// How a wait ended, for what the clock makes of it: one that a signal interrupted has taken the
// time that it took, or who goes on with the rest would wait for the whole time again.
enum class End { kTimeout, kSignal, kElse };
class TimedWait {
 public:
  explicit TimedWait(int64_t wanted)  // nanoseconds; none: the clock stays
      : wanted_(wanted),
        began_(elapsed()),
        really_began_(wanted > 0 ? real_now(CLOCK_MONOTONIC) : 0) {}
  void end(End end) const;  // keeps errno

 private:
  int64_t wanted_, began_, really_began_;
};

uint64_t random_word();
void fill_random(void* at, size_t size);

// A pointer of the program's is bad where the kernel would say EFAULT, and a crash would be ours.
// False for a null, too. Looks at eight bytes.
bool can_read(const void* at);

timespec to_timespec(int64_t ns);
// At most some 146 years.
int64_t to_ns(const timespec& time);
inline bool is_valid(const timespec& time) {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < kSecond;
}

// A system call, with the kernel's answer: -errno.
long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);
long with_errno(long answer);

// The function of the C library, or of another library behind us.
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace fixed

// The function behind the one of ours that this is written in; looked up once.
#define ZYGO_NEXT(name) static auto* const real = fixed::next<decltype(::name)>(#name)
