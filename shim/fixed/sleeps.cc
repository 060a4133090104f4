// Sleeps, and waits for descriptors. They take the time they take, so that limits hold, and then
// the clock has moved on by what was asked for.

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "shim/fixed/state.h"

using fixed::End;
using fixed::kSecond;
using fixed::pass_until;
using fixed::TimedWait;

namespace {

using ClockNanosleep = int(clockid_t, int, const timespec*, timespec*);

// Of the C library, for it is a point of cancellation.
int really_sleep(const timespec* how_long, timespec* left) {
  static auto* const real = fixed::next<ClockNanosleep>("clock_nanosleep");
  return real(CLOCK_MONOTONIC, 0, how_long, left);
}

// 0 or an error, as clock_nanosleep says it.
int sleep_for(const timespec* how_long, timespec* left) {
  const int64_t wanted = fixed::to_ns(*how_long), began = fixed::elapsed();
  timespec rest{};
  const int error = really_sleep(how_long, &rest);
  if (error == 0) pass_until(began + wanted);
  if (error == EINTR) pass_until(began + wanted - fixed::to_ns(rest));
  if (error == EINTR && left) *left = rest;
  return error;
}

int sleep_until(clockid_t clock, const timespec* when) {
  const int64_t wanted = fixed::to_ns(*when) - fixed::now(clock);
  if (wanted <= 0) return 0;
  const timespec how_long = fixed::to_timespec(wanted);
  return sleep_for(&how_long, nullptr);
}

// Carries out a wait that says 0 when its time has passed; `wanted` is its time, or negative.
template <typename Wait>
int wait_at_most(int64_t wanted, Wait wait) {
  if (!fixed::is_on()) return wait();
  const TimedWait timed(wanted);
  const int answer = wait();
  timed.end(answer == 0 ? End::kTimeout : answer < 0 && errno == EINTR ? End::kSignal : End::kElse);
  return answer;
}

// What is not, the kernel refuses.
bool is_valid(const timespec* time) { return fixed::can_read(time) && fixed::is_valid(*time); }

int64_t of_milliseconds(int ms) { return int64_t{ms} * (kSecond / 1000); }
int64_t of_timespec(const timespec* time) { return time ? fixed::to_ns(*time) : -1; }

}  // namespace

ZYGO_HOOK int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  ZYGO_NEXT(clock_nanosleep);
  if (!fixed::is_on() || !is_valid(time) || !fixed::is_known(clock))
    return real(clock, flags, time, left);
  return (flags & TIMER_ABSTIME) != 0 ? sleep_until(clock, time) : sleep_for(time, left);
}

ZYGO_HOOK int nanosleep(const timespec* time, timespec* left) {
  ZYGO_NEXT(nanosleep);
  if (!fixed::is_on() || !is_valid(time)) return real(time, left);
  const int error = sleep_for(time, left);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

ZYGO_HOOK unsigned sleep(unsigned seconds) {
  ZYGO_NEXT(sleep);
  if (!fixed::is_on()) return real(seconds);
  const timespec time{static_cast<time_t>(seconds), 0};
  timespec left{};
  return sleep_for(&time, &left) == 0 ? 0 : static_cast<unsigned>(left.tv_sec);
}

ZYGO_HOOK int usleep(useconds_t us) {
  const timespec time = fixed::to_timespec(int64_t{us} * 1000);
  return nanosleep(&time, nullptr);
}

ZYGO_HOOK int thrd_sleep(const timespec* time, timespec* left) {
  ZYGO_NEXT(thrd_sleep);
  if (!fixed::is_on() || !is_valid(time)) return real(time, left);
  return sleep_for(time, left) == 0 ? 0 : -1;
}

ZYGO_HOOK int poll(pollfd* fds, nfds_t count, int ms) {
  ZYGO_NEXT(poll);
  return wait_at_most(of_milliseconds(ms), [=] { return real(fds, count, ms); });
}

ZYGO_HOOK int ppoll(pollfd* fds, nfds_t count, const timespec* time, const sigset_t* mask) {
  ZYGO_NEXT(ppoll);
  return wait_at_most(of_timespec(time), [=] { return real(fds, count, time, mask); });
}

ZYGO_HOOK int select(int count, fd_set* in, fd_set* out, fd_set* other, timeval* time) {
  ZYGO_NEXT(select);
  // Linux writes what is left into `time`.
  const int64_t wanted = time ? time->tv_sec * kSecond + time->tv_usec * 1000 : -1;
  return wait_at_most(wanted, [=] { return real(count, in, out, other, time); });
}

ZYGO_HOOK int pselect(int count, fd_set* in, fd_set* out, fd_set* other, const timespec* time,
                      const sigset_t* mask) {
  ZYGO_NEXT(pselect);
  return wait_at_most(of_timespec(time), [=] { return real(count, in, out, other, time, mask); });
}

ZYGO_HOOK int epoll_wait(int fd, epoll_event* events, int most, int ms) {
  ZYGO_NEXT(epoll_wait);
  return wait_at_most(of_milliseconds(ms), [=] { return real(fd, events, most, ms); });
}

ZYGO_HOOK int epoll_pwait(int fd, epoll_event* events, int most, int ms, const sigset_t* mask) {
  ZYGO_NEXT(epoll_pwait);
  return wait_at_most(of_milliseconds(ms), [=] { return real(fd, events, most, ms, mask); });
}

ZYGO_HOOK int epoll_pwait2(int fd, epoll_event* events, int most, const timespec* time,
                           const sigset_t* mask) {
  ZYGO_NEXT(epoll_pwait2);
  if (time && !fixed::can_read(time)) return real(fd, events, most, time, mask);
  return wait_at_most(of_timespec(time), [=] { return real(fd, events, most, time, mask); });
}

// What fortified programs call.
ZYGO_HOOK int __poll_chk(pollfd* fds, nfds_t count, int ms, size_t size) {
  using Poll = int(pollfd*, nfds_t, int, size_t);
  static auto* const real = fixed::next<Poll>("__poll_chk");
  return wait_at_most(of_milliseconds(ms), [=] { return real(fds, count, ms, size); });
}
ZYGO_HOOK int __ppoll_chk(pollfd* fds, nfds_t count, const timespec* time, const sigset_t* mask,
                          size_t size) {
  using Poll = int(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t);
  static auto* const real = fixed::next<Poll>("__ppoll_chk");
  return wait_at_most(of_timespec(time), [=] { return real(fds, count, time, mask, size); });
}

ZYGO_HOOK int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* time) {
  ZYGO_NEXT(sigtimedwait);
  if (!fixed::is_on() || !fixed::can_read(time)) return real(set, info, time);
  const TimedWait timed(of_timespec(time));
  const int answer = real(set, info, time);
  timed.end(answer >= 0       ? End::kElse
            : errno == EAGAIN ? End::kTimeout
            : errno == EINTR  ? End::kSignal
                              : End::kElse);
  return answer;
}
