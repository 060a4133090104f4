#include "service/observe/resources.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <ctime>
#include <memory>
#include <string>

#include "sandbox/sys/file.h"
#include "sandbox/sys/units.h"

namespace service {

namespace {

// The second number of /proc/self/statm, in pages (proc(5)).
uint64_t resident_bytes() {
  const sys::Result<std::string> text = sys::read_file("/proc/self/statm");
  const size_t blank = text ? text->find(' ') : std::string::npos;
  if (blank == std::string::npos) return 0;
  uint64_t pages = 0;
  std::from_chars(text->data() + blank + 1, text->data() + text->size(), pages);
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// The kernel does not tell it to an ordinary user's process that is not dumpable.
uint64_t open_descriptors() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  if (!folder) return 0;
  uint64_t count = 0;
  while (const dirent* entry = ::readdir(folder.get())) count += entry->d_name[0] != '.' ? 1 : 0;
  return count - 1;  // the folder's own
}

int64_t micros(const timeval& time) { return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; }

const sys::Nanoseconds kLoaded = sys::monotonic_now();

}  // namespace

Resources Resources::now() {
  Resources all;
  all.resident_bytes = service::resident_bytes();
  all.open_descriptors = service::open_descriptors();
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0)
    all.cpu_us = micros(used.ru_utime) + micros(used.ru_stime);
  all.uptime_us =
      std::chrono::duration_cast<sys::Microseconds>(sys::monotonic_now() - kLoaded).count();
  all.started_s = std::time(nullptr) - all.uptime_us / 1'000'000;
  return all;
}

}  // namespace service
