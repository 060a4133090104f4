#include "shim/heap/hot_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>

#include "shim/heap/memory_map.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif

namespace shim {

namespace {

constexpr int kSelf = -10000;  // PIDFD_SELF_THREAD_GROUP, Linux 6.15

struct WriteSet {
  size_t size = 0;
  iovec runs[512];
} write_sets[kHabits];
bool at_once = false;  // by one call, rather than as they are written to

WriteSet& set_of(Habit habit) { return write_sets[static_cast<size_t>(habit) % kHabits]; }

void add_page(WriteSet& set, uintptr_t page) {
  iovec* last = set.size > 0 ? &set.runs[set.size - 1] : nullptr;
  if (last && reinterpret_cast<uintptr_t>(last->iov_base) + last->iov_len == page) {
    last->iov_len += kPage;
  } else if (set.size < std::size(set.runs)) {
    set.runs[set.size++] = {reinterpret_cast<void*>(page), kPage};
  }
}

bool populate(const WriteSet& set) {
  return ::syscall(SYS_process_madvise, kSelf, set.runs, set.size, MADV_POPULATE_WRITE, 0) > 0;
}

bool touch(const WriteSet& set) {
  for (size_t i = 0; i < set.size; ++i) {
    auto* at = static_cast<char*>(set.runs[i].iov_base);
    for (size_t done = 0; done < set.runs[i].iov_len; done += kPage) {
      __atomic_fetch_or(at + done, 0, __ATOMIC_RELAXED);
    }
  }
  return true;
}

int64_t now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

// The time that `copy` takes in a child that has none of the pages yet; 0 if it cannot be told.
int64_t time_in_child(bool (*copy)(const WriteSet&)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return 0;
  const long pid = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) {
    const int64_t began = now_ns();
    const int64_t took = copy(set_of(Habit::kScript)) ? now_ns() - began : 0;
    (void)!::write(ends[1], &took, sizeof took);
    ::_exit(0);
  }
  ::close(ends[1]);
  int64_t took = 0;
  if (::read(ends[0], &took, sizeof took) != sizeof took) took = 0;
  ::close(ends[0]);
  while (pid > 0 && ::waitpid(static_cast<pid_t>(pid), nullptr, __WALL) < 0 && errno == EINTR) {
  }
  return took;
}

// The faster of several attempts each, because what else goes on only ever adds.
bool is_faster_at_once() {
  constexpr int kAttempts = 5;
  int64_t all = INT64_MAX, one_by_one = INT64_MAX;
  for (int i = 0; i < kAttempts; ++i) {
    const int64_t took = time_in_child(populate);
    if (took == 0) return false;
    all = std::min(all, took);
    if (const int64_t touched = time_in_child(touch)) one_by_one = std::min(one_by_one, touched);
  }
  return all < one_by_one;
}

void drop_clean_pages(const Area& area, PageMap& pages) {
  for (uintptr_t at = area.begin; at < area.end;) {
    const size_t left = (area.end - at) / kPage;
    const size_t count = std::min(left, PageMap::kWindow);
    const uint64_t* entries = pages.read(at, count);
    if (!entries) return;
    auto is_clean = [&](size_t i) {
      return PageMap::is_there(entries[i]) && !PageMap::is_anonymous(entries[i]);
    };
    for (size_t i = 0; i < count; ++i) {
      const size_t first = i;
      while (i < count && is_clean(i)) ++i;
      if (i > first) {
        ::madvise(reinterpret_cast<void*>(at + first * kPage), (i - first) * kPage, MADV_DONTNEED);
      }
    }
    at += count * kPage;
  }
}

}  // namespace

void choose_hot_pages(Habit habit, const PageTally& tally) {
  // A page copied in vain costs more than the fault that one saves.
  WriteSet& set = set_of(habit);
  set.size = 0;
  for (const PageUse& use : tally) {
    if (use.written >= tally.trials()) add_page(set, use.page);
  }
}

void choose_way_of_copying() { at_once = set_of(Habit::kScript).size > 0 && is_faster_at_once(); }

void drop_clean_pages() {
  MemoryMap* map = MemoryMap::create();
  if (!map) return;
  PageMap pages;
  if (map->read()) {
    for (const Area& area : *map) {
      if (area.is_of_image() && (area.prot & PROT_WRITE)) drop_clean_pages(area, pages);
    }
  }
  map->destroy();
}

void copy_hot_pages(Habit habit) {
  const WriteSet& set = set_of(habit);
  at_once ? populate(set) : touch(set);
}

}  // namespace shim
