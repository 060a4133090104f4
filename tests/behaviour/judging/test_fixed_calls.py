"""Fixed mode: a call that is refused, or that crashes, is refused or crashes as without fixed mode."""

from __future__ import annotations

import unittest

import zygo
from judging.test_fixed import fixed
from zygo import ZygoTestCase

BAD_POINTERS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
/* How each ends: in a process of its own, for some of them crash, with and without fixed mode. */
#define TRY(call, shown) \
  do { \
    fflush(stdout); \
    if (fork() == 0) { \
      errno = 0; \
      const long answer = (long)(call); \
      printf("%s: %ld %d\n", #call, (shown) ? answer : 0, errno); \
      fflush(stdout); \
      _exit(0); \
    } \
    int status = 0; \
    wait(&status); \
    if (status) printf("%s: signal %d\n", #call, WTERMSIG(status)); \
  } while (0)
static void try_all(void *volatile at, int writable) {
  static const int clocks[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 99, -1, -2, -3, -6, -7, -99999998, -99999999};
  int word = 0;
  sigset_t none;
  sigemptyset(&none);
  const int poller = epoll_create1(0);
  struct epoll_event event;
  const struct timespec soon = {0, 1};
  for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; ++i) {
    printf("clock %d: ", clocks[i]);
    TRY(clock_gettime(clocks[i], at), 1);
    TRY(syscall(SYS_clock_gettime, clocks[i], at), 1);
  }
  TRY(gettimeofday(at, 0), 1);
  TRY(syscall(SYS_gettimeofday, at, 0), 1);
  TRY(time(at), 0);
  TRY(syscall(SYS_time, at) > 0, 1);
  TRY(timespec_get(at, TIME_UTC), 1);
  TRY(timespec_get(at, 0), 1);
  TRY(times(at) == -1, 1);
  TRY(sysinfo(at), 1);
  TRY(getrusage(RUSAGE_SELF, at), 1);
  TRY(getrusage(99, at), 1);
  TRY(getrandom(at, 8, 0), 1);
  TRY(getrandom(at, 0, 0), 1);
  TRY(getrandom(at, 8, 999), 1);
  TRY(getrandom(at, 8, GRND_RANDOM | 4), 1);
  TRY(syscall(SYS_getrandom, at, 8, 0), 1);
  TRY(getentropy(at, 8), 1);
  TRY(getentropy(at, 300), 1);
  TRY(read(open("/dev/urandom", O_RDONLY), at, 8), 1);
  TRY(nanosleep(&soon, at), 1);
  if (writable) return;
  TRY(nanosleep(at, 0), 1);
  TRY(clock_nanosleep(CLOCK_REALTIME, 0, at, 0), 1);
  TRY(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, at, 0), 1);
  TRY(syscall(SYS_nanosleep, at, 0), 1);
  TRY(thrd_sleep(at, 0), 1);
  if (at) {
    TRY(epoll_pwait2(poller, &event, 1, at, 0), 1);
    TRY(sigtimedwait(&none, 0, at), 1);
    TRY(syscall(SYS_futex, &word, FUTEX_WAIT, 0, at), 1);
    TRY(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, at, 0, -1), 1);
    TRY(syscall(SYS_futex, &word, FUTEX_WAKE, at), 1);
  }
  TRY(open(at, O_RDONLY), 1);
  TRY(fopen(at, "r") == 0, 1);
}
int main(void) {
  char *const pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + 4096, 4096);
  static struct { long words[64]; } room;
  puts("null");
  try_all(0, 0);
  puts("nowhere");
  try_all((void *)16, 0);
  puts("the end of a page");
  try_all(pages + 4096, 0);
  puts("read only");
  try_all((void *)(long)main, 1);
  puts("fine");
  try_all(&room, 1);
  return 0;
}
"""


class BadPointers(ZygoTestCase):
    def test_end_as_without_fixed_mode(self) -> None:
        """Most clocks are read without the kernel, so clock_gettime(CLOCK_REALTIME, NULL) crashes in both."""
        job = {"template": "c", "policy": {"profile": "subprocess"}, "compiler_flags": ["-w"]}

        results = zygo.run_batch([{"id": "real", "source": BAD_POINTERS, **job}, fixed("fixed", BAD_POINTERS, **job)])

        real, fixed_mode = (results[name]["stdout"]["text"].splitlines() for name in ("real", "fixed"))
        self.assertLabel(results["real"], "OK")
        self.assertIn("clock 0: clock_gettime(clocks[i], at): signal 11", real)
        self.assertIn("clock 2: clock_gettime(clocks[i], at): -1 14", real)
        self.assertEqual(fixed_mode, real)


if __name__ == "__main__":
    unittest.main()
