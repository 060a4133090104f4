// Compiled without a stack protector and jump tables: both read memory that is being restored.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "sandbox/sys/userfault.h"
#include "shim/state/node_view.h"
#include "shim/state/restore.h"

namespace shim::state {
namespace {

// Raw calls: the C library's own would write errno, which lies in memory that is being restored.
long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  register long sixth __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
}
int error_of(long result) { return result < 0 ? static_cast<int>(-result) : 0; }
long argument(const void* pointer) { return reinterpret_cast<long>(pointer); }

long map(const Area& area, int flags, long file) {
  return call(SYS_mmap, static_cast<long>(area.begin), static_cast<long>(area.end - area.begin),
              static_cast<long>(area.protection), MAP_PRIVATE | MAP_FIXED | flags, file,
              static_cast<long>(area.offset));
}

// Not another one that has its name here. Those of the scratch are ours.
bool is_file_of(const Area& area, long file) {
  struct stat status;
  if (area.inode == 0) return true;
  return call(SYS_fstat, file, argument(&status)) == 0 && status.st_ino == area.inode &&
         static_cast<uint64_t>(status.st_size) == area.file_bytes;
}

int map_file(const Area& area) {
  const long file = call(SYS_openat, AT_FDCWD, argument(text_of(area.file)), O_RDONLY | O_CLOEXEC);
  if (file < 0) return error_of(file);
  const long at = is_file_of(area, file) ? map(area, 0, file) : -ESTALE;
  call(SYS_close, file);
  return error_of(at);
}

int restore_area(const Area& area) {
  const long begin = static_cast<long>(area.begin);
  const long size = static_cast<long>(area.end - area.begin);
  if (area.kind == AreaKind::kNone) return error_of(call(SYS_munmap, begin, size));
  if (area.kind == AreaKind::kAnonymous)
    return error_of(map(area, MAP_ANONYMOUS | MAP_NORESERVE, -1));
  if (area.kind == AreaKind::kFile) return map_file(area);
  if (area.kind == AreaKind::kUnwritten)
    return error_of(call(SYS_madvise, begin, size, MADV_DONTNEED));
  return error_of(call(SYS_mprotect, begin, size, static_cast<long>(area.protection)));
}

// Not the C library's: what that has resolved lazily may lie in a page that is being written.
void copy_words(uint64_t to, const char* from, uint64_t bytes) {
  uint64_t words = bytes / sizeof(uint64_t);
  __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
}

// All faults of runs side by side at once, where the kernel can (MADV_POPULATE_WRITE, Linux 5.14);
// else one by one. Returns where they end.
uint64_t populate_from(uint32_t first) {
  constexpr long kPopulateWrite = 23;
  const Run& run = runs()[first];
  uint64_t end = run.end();
  for (uint32_t i = first + 1; i < header().runs; ++i) {
    const Run& next = runs()[i];
    if (next.begin != end || next.protection != run.protection) break;
    end = next.end();
  }
  const bool is_open = run.protection & PROT_WRITE;
  const uint64_t bytes = end - run.begin;
  if (is_open && bytes > kPageBytes)
    call(SYS_madvise, static_cast<long>(run.begin), static_cast<long>(bytes), kPopulateWrite);
  return end;
}

// What of the node's files has been copied is no memory of the job's: without a cgroup, pages that
// are mapped count as its own.
class Source {
 public:
  void copy(const Run& run) {
    const char* from = file_at(run.file) + run.at;
    const uint64_t bytes = run.pages * kPageBytes;
    for (uint64_t done = 0; done < bytes;) {
      const uint64_t part = bytes - done < kMostAtOnce ? bytes - done : kMostAtOnce;
      if (part >= kWorthACall)
        call(SYS_madvise, argument(from + done), static_cast<long>(part), kPopulateRead);
      copy_words(run.begin + done, from + done, part);
      done += part;
      mapped_ += part;
      if (mapped_ >= kMostAtOnce) let_go();
    }
  }

 private:
  static constexpr long kPopulateRead = 22;  // MADV_POPULATE_READ, Linux 5.14
  static constexpr uint64_t kMostAtOnce = uint64_t{4} << 20;
  static constexpr uint64_t kWorthACall =
      16 * kPageBytes;  // what a fault maps (fault_around_bytes)

  void let_go() {
    call(SYS_madvise, kNodeAddress, static_cast<long>(mapped_bytes()), MADV_DONTNEED);
    mapped_ = 0;
  }
  uint64_t mapped_ = 0;
};

int restore_run(const Run& run, Source& source) {
  const long begin = static_cast<long>(run.begin);
  const long size = static_cast<long>(run.pages * kPageBytes);
  const bool is_open = run.protection & PROT_WRITE;
  const long open = static_cast<long>(run.protection | PROT_READ | PROT_WRITE);
  if (!is_open) {
    if (const int error = error_of(call(SYS_mprotect, begin, size, open)); error != 0) return error;
  }
  source.copy(run);
  if (is_open) return 0;
  return error_of(call(SYS_mprotect, begin, size, static_cast<long>(run.protection)));
}

int put_memory() {
  const long brk = static_cast<long>(header().brk);
  if (call(SYS_brk, brk) != brk) return ENOMEM;
  for (uint32_t i = 0; i < header().areas; ++i) {
    if (const int error = restore_area(areas()[i]); error != 0) return error;
  }
  Source source;
  uint64_t populated = 0;  // up to there
  for (uint32_t i = 0; i < header().runs; ++i) {
    if (runs()[i].begin >= populated) populated = populate_from(i);
    if (const int error = restore_run(runs()[i], source); error != 0) return error;
  }
  return 0;
}

int finish_entry(long scratch, const Entry& entry) {
  if (entry.kind == EntryKind::kHardLink) return 0;
  const long path = argument(text_of(entry.path));
  const timespec times[2] = {{0, UTIME_NOW}, {entry.seconds, entry.nanoseconds}};
  const long timed = call(SYS_utimensat, scratch, path, argument(times), AT_SYMLINK_NOFOLLOW);
  if (timed < 0 || entry.kind == EntryKind::kSymbolicLink) return error_of(timed);
  return error_of(call(SYS_fchmodat, scratch, path, entry.mode & 07777));
}

// When nothing is opened or put into directories any more: the last is the deepest. The working
// directory may be one that cannot be entered after that.
int finish_files() {
  if (header().entries == 0) return 0;
  const long scratch = call(SYS_openat, AT_FDCWD, argument("."), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (scratch < 0) return error_of(scratch);
  int error = 0;
  if (header().directory.size > 0)
    error = error_of(call(SYS_chdir, argument(text_of(header().directory))));
  for (uint32_t i = header().entries; error == 0 && i > 0; --i)
    error = finish_entry(scratch, entries()[i - 1]);
  call(SYS_close, scratch);
  return error;
}

// SIGCONT, which is ignored, would wait for the program where it is blocked (signal(7)).
void stand_by(const LastWord& word) {
  const uint64_t all_but_it = ~(uint64_t{1} << (SIGCONT - 1));
  call(SYS_rt_sigprocmask, SIG_SETMASK, argument(&all_but_it), 0, sizeof all_but_it);
  *word.stands_by = word.nonce;
  call(SYS_kill, call(SYS_getpid), SIGSTOP);
}

int restore_all() {
  const int error = put_memory();
  return error != 0 ? error : finish_files();
}

}  // namespace

void restore_memory(int* tid_address, const LastWord& word) {
  if (restore_all() != 0) {
    call(SYS_write, word.report, argument(word.failure), sizeof *word.failure);
    for (;;) call(SYS_exit_group, word.status);
  }
  // The supervisor answers it when it has protected what has been put back (JobTracked).
  if (word.tells) call(SYS_userfaultfd, static_cast<long>(sys::kUserfaultFlags));
  if (tid_address) *tid_address = static_cast<int>(call(SYS_gettid));
  timespec now{};
  call(SYS_clock_gettime, CLOCK_MONOTONIC, argument(&now));
  word.done->at_ns = now.tv_sec * 1'000'000'000 + now.tv_nsec;
  call(SYS_write, word.report, argument(word.done), sizeof *word.done);
  call(SYS_close, word.report);
  const uint64_t blocked = header().blocked;
  call(SYS_munmap, kNodeAddress, static_cast<long>(mapped_bytes()));
  if (word.stands_by) stand_by(word);
  call(SYS_rt_sigprocmask, SIG_SETMASK, argument(&blocked), 0, sizeof blocked);
}

}  // namespace shim::state
