// Timed waits of threads. Their deadlines are places of the fixed clock, and the kernel waits by
// the real one: unchanged, they would be years away, or have passed.

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>

#include "shim/fixed/state.h"

namespace {

using fixed::End;

// `wait` gets the deadline that the kernel understands, and `end_of` its answer.
template <typename Wait, typename EndOf>
auto wait_until(clockid_t clock, const timespec* deadline, Wait wait, EndOf end_of) {
  if (!deadline || !fixed::is_on() || !fixed::is_valid(*deadline)) return wait(deadline);
  const int64_t wanted = fixed::to_ns(*deadline) - fixed::now(clock);
  const fixed::TimedWait timed(wanted);
  const int64_t real_deadline = fixed::real_now(clock) + (wanted > 0 ? wanted : 0);
  const timespec translated = fixed::to_timespec(real_deadline);
  const auto answer = wait(&translated);
  timed.end(end_of(answer));
  return answer;
}

End end_with(int error) {
  if (error == ETIMEDOUT) return End::kTimeout;
  return error == EINTR ? End::kSignal : End::kElse;
}
End end_in_threads(int answer) { return answer == thrd_timedout ? End::kTimeout : End::kElse; }

template <typename Wait>
int wait_until(clockid_t clock, const timespec* deadline, Wait wait) {
  return wait_until(clock, deadline, wait, end_with);
}

template <typename Wait>
int wait_by_errno(clockid_t clock, const timespec* deadline, Wait wait) {
  return wait_until(clock, deadline, wait,
                    [](int answer) { return answer < 0 ? end_with(errno) : End::kElse; });
}

// As pthread_condattr_setclock() has left it there (glibc's nptl/pthread_cond_common.c,
// since 2.25).
clockid_t clock_of(const pthread_cond_t* condition) {
  constexpr unsigned kMonotonic = 2;
  return (condition->__data.__wrefs & kMonotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

using CondTimedWait = int(pthread_cond_t*, pthread_mutex_t*, const timespec*);

// There are two of this name; the older one is for programs of another century.
CondTimedWait* cond_timedwait() {
  void* found = ::dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  return found ? reinterpret_cast<CondTimedWait*>(found)
               : fixed::next<CondTimedWait>("pthread_cond_timedwait");
}

long futex(const long* words);

}  // namespace

ZYGO_HOOK int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                     const timespec* deadline) {
  static auto* const real = cond_timedwait();
  return wait_until(clock_of(condition), deadline,
                    [=](const timespec* when) { return real(condition, mutex, when); });
}

ZYGO_HOOK int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                     clockid_t clock, const timespec* deadline) {
  ZYGO_NEXT(pthread_cond_clockwait);
  return wait_until(clock, deadline,
                    [=](const timespec* when) { return real(condition, mutex, clock, when); });
}

ZYGO_HOOK int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* deadline) noexcept {
  ZYGO_NEXT(pthread_mutex_timedlock);
  return wait_until(CLOCK_REALTIME, deadline,
                    [=](const timespec* when) { return real(mutex, when); });
}

ZYGO_HOOK int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                      const timespec* deadline) noexcept {
  ZYGO_NEXT(pthread_mutex_clocklock);
  return wait_until(clock, deadline,
                    [=](const timespec* when) { return real(mutex, clock, when); });
}

ZYGO_HOOK int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock,
                                         const timespec* deadline) noexcept {
  ZYGO_NEXT(pthread_rwlock_timedrdlock);
  return wait_until(CLOCK_REALTIME, deadline,
                    [=](const timespec* when) { return real(lock, when); });
}

ZYGO_HOOK int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock,
                                         const timespec* deadline) noexcept {
  ZYGO_NEXT(pthread_rwlock_timedwrlock);
  return wait_until(CLOCK_REALTIME, deadline,
                    [=](const timespec* when) { return real(lock, when); });
}

ZYGO_HOOK int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                         const timespec* deadline) noexcept {
  ZYGO_NEXT(pthread_rwlock_clockrdlock);
  return wait_until(clock, deadline, [=](const timespec* when) { return real(lock, clock, when); });
}

ZYGO_HOOK int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                         const timespec* deadline) noexcept {
  ZYGO_NEXT(pthread_rwlock_clockwrlock);
  return wait_until(clock, deadline, [=](const timespec* when) { return real(lock, clock, when); });
}

ZYGO_HOOK int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* deadline) {
  ZYGO_NEXT(pthread_timedjoin_np);
  return wait_until(CLOCK_REALTIME, deadline,
                    [=](const timespec* when) { return real(thread, result, when); });
}

ZYGO_HOOK int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock,
                                   const timespec* deadline) {
  ZYGO_NEXT(pthread_clockjoin_np);
  return wait_until(clock, deadline,
                    [=](const timespec* when) { return real(thread, result, clock, when); });
}

ZYGO_HOOK int sem_timedwait(sem_t* semaphore, const timespec* deadline) {
  ZYGO_NEXT(sem_timedwait);
  return wait_by_errno(CLOCK_REALTIME, deadline,
                       [=](const timespec* when) { return real(semaphore, when); });
}

ZYGO_HOOK int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* deadline) {
  ZYGO_NEXT(sem_clockwait);
  return wait_by_errno(clock, deadline,
                       [=](const timespec* when) { return real(semaphore, clock, when); });
}

ZYGO_HOOK int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* deadline) {
  ZYGO_NEXT(cnd_timedwait);
  return wait_until(
      CLOCK_REALTIME, deadline, [=](const timespec* when) { return real(condition, mutex, when); },
      end_in_threads);
}

ZYGO_HOOK int mtx_timedlock(mtx_t* mutex, const timespec* deadline) {
  ZYGO_NEXT(mtx_timedlock);
  return wait_until(
      CLOCK_REALTIME, deadline, [=](const timespec* when) { return real(mutex, when); },
      end_in_threads);
}

namespace {

// futex(2): address, operation, value, time, ... A plain wait has a time to wait, the others a
// deadline; the rest of the operations have another number in its place.
long futex(const long* words) {
  const long operation = words[1] & FUTEX_CMD_MASK;
  const auto* time = reinterpret_cast<const timespec*>(words[3]);
  const auto call = [=](const timespec* when) {
    return fixed::raw_call(SYS_futex, words[0], words[1], words[2], reinterpret_cast<long>(when),
                           words[4], words[5]);
  };
  const auto end_of = [](long answer) { return end_with(static_cast<int>(-answer)); };
  if (!fixed::can_read(time)) return call(time);  // a number, a null, or what is EFAULT
  if (operation == FUTEX_WAIT) {
    const fixed::TimedWait timed(fixed::to_ns(*time));
    const long answer = call(time);
    timed.end(end_of(answer));
    return answer;
  }
  const bool by_real_time = (words[1] & FUTEX_CLOCK_REALTIME) != 0 || operation == FUTEX_LOCK_PI;
  if (operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI)
    return wait_until(by_real_time ? CLOCK_REALTIME : CLOCK_MONOTONIC, time, call, end_of);
  return call(time);
}

}  // namespace

// What syscall() passes on (syscall.cc).
extern "C" __attribute__((visibility("hidden"))) long zygo_fixed_call(long number, long a, long b,
                                                                      long c, long d, long e,
                                                                      long f) {
  if (fixed::is_on()) {
    switch (number) {
      case SYS_futex: {
        const long words[] = {a, b, c, d, e, f};
        return fixed::with_errno(futex(words));
      }
      case SYS_clock_gettime:
        if (!fixed::is_known(static_cast<clockid_t>(a)) ||
            fixed::try_clock(static_cast<clockid_t>(a), reinterpret_cast<timespec*>(b)) < 0)
          break;
        *reinterpret_cast<timespec*>(b) =
            fixed::to_timespec(fixed::read(static_cast<clockid_t>(a)));
        return 0;
      case SYS_time: {
        if (fixed::raw_call(number, a) < 0) break;
        const long seconds = fixed::read(CLOCK_REALTIME) / fixed::kSecond;
        if (a != 0) *reinterpret_cast<long*>(a) = seconds;
        return seconds;
      }
      case SYS_gettimeofday: {
        if (fixed::raw_call(number, a, b) < 0) break;
        const int64_t ns = fixed::read(CLOCK_REALTIME);
        if (a != 0) {
          reinterpret_cast<long*>(a)[0] = ns / fixed::kSecond;
          reinterpret_cast<long*>(a)[1] = ns % fixed::kSecond / 1000;
        }
        return 0;
      }
      case SYS_getrandom:
        return ::getrandom(reinterpret_cast<void*>(a), static_cast<size_t>(b),
                           static_cast<unsigned>(c));
      case SYS_nanosleep:
        return ::nanosleep(reinterpret_cast<const timespec*>(a), reinterpret_cast<timespec*>(b));
      case SYS_clock_nanosleep: {
        const int error =
            ::clock_nanosleep(static_cast<clockid_t>(a), static_cast<int>(b),
                              reinterpret_cast<const timespec*>(c), reinterpret_cast<timespec*>(d));
        return fixed::with_errno(-error);
      }
      default:
        break;
    }
  }
  return fixed::with_errno(fixed::raw_call(number, a, b, c, d, e, f));
}

// syscall(2). Calls that are none of ours leave no frame of ours on the stack: one may be a clone
// whose child returns first, on the same stack.
asm(R"(
    .text
    .globl syscall
    .type syscall, @function
syscall:
    endbr64
    cmp $35, %rdi      # nanosleep
    je zygo_fixed_call
    cmp $96, %rdi      # gettimeofday
    je zygo_fixed_call
    cmp $201, %rdi     # time
    je zygo_fixed_call
    cmp $202, %rdi     # futex
    je zygo_fixed_call
    cmp $228, %rdi     # clock_gettime
    je zygo_fixed_call
    cmp $230, %rdi     # clock_nanosleep
    je zygo_fixed_call
    cmp $318, %rdi     # getrandom
    je zygo_fixed_call
    mov %rdi, %rax
    mov %rsi, %rdi
    mov %rdx, %rsi
    mov %rcx, %rdx
    mov %r8, %r10
    mov %r9, %r8
    mov 8(%rsp), %r9
    syscall
    cmp $-4095, %rax
    jae 1f
    ret
1:  neg %rax
    push %rax
    call __errno_location@plt
    pop %rcx
    mov %ecx, (%rax)
    mov $-1, %rax
    ret
    .size syscall, .-syscall
)");
