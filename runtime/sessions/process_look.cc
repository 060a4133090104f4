#include "runtime/sessions/process_look.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstring>
#include <optional>

#include "runtime/sessions/pagemap.h"
#include "sandbox/sys/directory.h"
#include "sandbox/sys/file.h"

namespace runtime {

using shim::state::kPageBytes;
using shim::state::Run;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr size_t kMostText = size_t{64} << 10;     // of a file of /proc/PID
constexpr size_t kMostMaps = size_t{16} << 20;     // of that which has a line for each area
constexpr size_t kMostAtOnce = size_t{256} << 10;  // bytes of a process that one call reads
constexpr size_t kMostParts = 256;
constexpr size_t kMostDescriptors = 1024;

// What stands behind `name` in lines "Name:\tvalue". A name within a value is none.
std::string_view value_of(std::string_view text, std::string_view name) {
  const std::string line = "\n" + std::string(name);
  size_t at = text.find(line);
  if (at == text.npos) return text.starts_with(name) ? text.substr(name.size()) : "";
  text.remove_prefix(at + line.size());
  return text;
}

std::optional<uint64_t> number_of(std::string_view text, std::string_view name, int base) {
  text = value_of(text, name);
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// One that waits because it is blocked, and that its program would notice.
bool has_signal(std::string_view status) {
  constexpr auto bit = [](int signal) { return uint64_t{1} << (signal - 1); };
  constexpr uint64_t kUsuallyIgnored = bit(SIGCHLD) | bit(SIGCONT) | bit(SIGURG) | bit(SIGWINCH);
  const auto mask = [status](std::string_view name) {
    return number_of(status, name, 16).value_or(0);
  };
  const uint64_t waiting = mask("SigPnd:") | mask("ShdPnd:");
  const uint64_t ignored = mask("SigIgn:") | (kUsuallyIgnored & ~mask("SigCgt:"));
  return (waiting & ~ignored) != 0;
}

// Devices that every image has, by their numbers (Documentation/admin-guide/devices.txt).
const char* path_of_device(dev_t device) {
  constexpr unsigned kMemory = 1;
  if (major(device) != kMemory) return nullptr;
  constexpr std::pair<unsigned, const char*> kDevices[] = {{3, "/dev/null"},
                                                           {5, "/dev/zero"},
                                                           {7, "/dev/full"},
                                                           {8, "/dev/random"},
                                                           {9, "/dev/urandom"}};
  for (const auto& [number, path] : kDevices) {
    if (minor(device) == number) return path;
  }
  return nullptr;
}

std::string what_is(mode_t mode) {
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISFIFO(mode)) return "an open pipe";
  if (S_ISREG(mode) || S_ISDIR(mode)) return "an open file outside of its working directory";
  return "a descriptor of the kernel's";
}

// The number of runs that this adds.
size_t add_run(std::vector<Run>& runs, const Run& next) {
  if (!runs.empty() && runs.back().end() == next.begin &&
      runs.back().protection == next.protection) {
    runs.back().pages += next.pages;
    return 0;
  }
  runs.push_back(next);
  return 1;
}

// Kept, as fresh memory would cost more than the copies.
std::vector<char>& buffer_of_this_thread() {
  thread_local std::vector<char> buffer(kMostAtOnce);
  return buffer;
}

}  // namespace

Result<RestingProcess> RestingProcess::look_at(int pid, int parent) {
  RestingProcess process;
  process.pid_ = pid;
  process.pidfd_ = OwnedFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.pidfd_) return sys::Error::from_errno("pidfd_open");
  process.folder_ = TRY(sys::open("/proc/" + std::to_string(pid), O_PATH | O_DIRECTORY));
  // Its number may have become another's before it was held.
  process.status_ = TRY(process.read_text("status", kMostText));
  if (parent != 0 && number_of(process.status_, "PPid:", 10) != static_cast<uint64_t>(parent))
    return sys::Error::because("a process that ended");
  return process;
}

bool RestingProcess::is_there() const {
  pollfd end{pidfd_.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) == 0;
}

Result<Stillness> RestingProcess::stillness() const {
  return stillness_of(TRY(read_text("status", kMostText)));
}

Stillness RestingProcess::stillness_of(std::string_view status) const {
  Stillness found;
  found.switches = {number_of(status, "voluntary_ctxt_switches:", 10).value_or(0),
                    number_of(status, "nonvoluntary_ctxt_switches:", 10).value_or(0)};
  // Absent without CONFIG_CHECKPOINT_RESTORE.
  const auto timers = read_text("timers", kMostText);
  found.sees_timers = timers.ok();
  const bool are_unseen = !timers.ok() && timers.error().code() != ENOENT;
  if (number_of(status, "Threads:", 10) != uint64_t{1})
    found.lacks = "a second thread";
  else if (!value_of(status, "State:").starts_with("\tT"))
    found.lacks = "a process that went on";
  else if (has_signal(status))
    found.lacks = "a signal that waits";
  else if (timers.ok() && !timers->empty())
    found.lacks = "a timer";
  else if (are_unseen)
    found.lacks = "timers that cannot be seen";
  return found;
}

Result<std::string> RestingProcess::read_text(const char* name, size_t most) const {
  const OwnedFd file = TRY(sys::open_at(folder_.get(), name, O_RDONLY));
  return sys::read_all(file.get(), most);
}

Result<ProcessTexts> RestingProcess::texts() const {
  return ProcessTexts{status_, TRY(read_text("stat", kMostText)),
                      TRY(read_text("limits", kMostText))};
}

Result<std::vector<AddressArea>> RestingProcess::areas() const {
  auto areas = parse_maps(TRY(read_text("maps", kMostMaps)));
  if (!areas) return sys::Error::because("areas that make no sense");
  return std::move(*areas);
}

// By one walk over all of it. What the kernel keeps where no area of ours is, is left out.
Result<RestingProcess::OwnPages> RestingProcess::own_pages(const std::vector<AddressArea>& areas,
                                                           uint64_t most_bytes) const {
  const OwnedFd file = TRY(sys::open_at(folder_.get(), "pagemap", O_RDONLY));
  OwnPages own;
  uint64_t bytes = 0;
  auto area = areas.begin();
  const auto take = [&](uint64_t begin, uint64_t end, bool is_unwritten) {
    while (area != areas.end() && area->end <= begin) ++area;
    for (auto each = area; each != areas.end() && each->begin < end; ++each) {
      if (each->is_shared || is_no_state(*each)) continue;
      const uint64_t first = std::max(begin, each->begin), last = std::min(end, each->end);
      const Run run{first, (last - first) / kPageBytes, 0, each->protection, 0};
      bytes += last - first + add_run(own.runs, run) * sizeof(Run);
      if (is_unwritten) add_run(own.unwritten, run);
    }
    own.are_all = bytes <= most_bytes;
    return own.are_all;
  };
  if (!areas.empty()) TRY(PageScan(file.get()).find_own(areas, take));
  return own;
}

// By its file in /proc, which also shows what the process itself may not read.
Result<void> RestingProcess::read_slowly(uint64_t begin, char* into, size_t bytes) const {
  const OwnedFd file = TRY(sys::open_at(folder_.get(), "mem", O_RDONLY));
  for (size_t got = 0; got < bytes;) {
    const ssize_t n = ::pread(file.get(), into + got, bytes - got, static_cast<off_t>(begin + got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return sys::Error::from_errno("read the memory of a step", n < 0 ? errno : EFAULT);
    got += static_cast<size_t>(n);
  }
  return {};
}

Result<void> RestingProcess::read(const std::vector<Run>& runs, const Take& take) const {
  std::vector<char>& buffer = buffer_of_this_thread();
  std::vector<iovec> parts;
  size_t bytes = 0;
  const auto read_parts = [&]() -> Result<void> {
    const iovec ours{buffer.data(), bytes};
    const ssize_t got = ::process_vm_readv(pid_, &ours, 1, parts.data(), parts.size(), 0);
    char* into = buffer.data();
    for (const iovec& part : parts) {  // a page among them may be none that the process may read
      if (got == static_cast<ssize_t>(bytes)) break;
      TRY(read_slowly(reinterpret_cast<uint64_t>(part.iov_base), into, part.iov_len));
      into += part.iov_len;
    }
    TRY(take({buffer.data(), bytes}));
    parts.clear();
    bytes = 0;
    return {};
  };
  for (const Run& run : runs) {
    const uint64_t end = run.begin + run.pages * kPageBytes;
    for (uint64_t at = run.begin; at < end;) {
      const size_t piece = std::min<uint64_t>(end - at, buffer.size() - bytes);
      parts.push_back({reinterpret_cast<void*>(at), piece});
      bytes += piece;
      at += piece;
      if (bytes == buffer.size() || parts.size() == kMostParts) TRY(read_parts());
    }
  }
  return bytes > 0 ? read_parts() : Result<void>();
}

Result<bool> RestingProcess::is_same_file(int one, int other) const {
  const long order = ::syscall(SYS_kcmp, pid_, pid_, KCMP_FILE, static_cast<unsigned long>(one),
                               static_cast<unsigned long>(other));
  if (order < 0) return sys::Error::from_errno("compare descriptors");
  return order == 0;
}

Result<std::string> RestingProcess::take_descriptor(int number, const ScratchLook& scratch,
                                                    ProcessStanding& standing) const {
  const std::string name = std::to_string(number);
  struct stat status {};
  if (::fstatat(folder_.get(), ("fd/" + name).c_str(), &status, 0) < 0)
    return sys::Error::from_errno("look at a descriptor");
  OpenedFile file;
  file.number = number;
  const auto found = scratch.path_of.find({status.st_dev, status.st_ino});
  const char* device = S_ISCHR(status.st_mode) ? path_of_device(status.st_rdev) : nullptr;
  if (device) {
    file.path = device;
  } else if (found != scratch.path_of.end()) {
    file.path = found->second.empty() ? "." : found->second;
  } else {
    return S_ISREG(status.st_mode) && status.st_nlink == 0 ? "an open file that was deleted"
                                                           : what_is(status.st_mode);
  }
  const std::string info = TRY(read_text(("fdinfo/" + name).c_str(), kMostText));
  standing.has_changed = standing.has_changed || holds_lock(info);
  file.flags = static_cast<uint32_t>(number_of(info, "flags:", 8).value_or(0));
  file.offset = number_of(info, "pos:", 10).value_or(0);
  // The place in a folder means nothing in another one.
  if (S_ISDIR(status.st_mode) && file.offset != 0) return std::string("a folder half read");
  for (const OpenedFile& other : standing.files) {
    if (file.same_as < 0 && other.path == file.path && TRY(is_same_file(other.number, number)))
      file.same_as = other.number;
  }
  standing.files.push_back(std::move(file));
  return std::string();
}

// Of those above the first three, in order.
Result<std::vector<int>> RestingProcess::descriptors() const {
  OwnedFd folder = TRY(sys::open_at(folder_.get(), "fd", O_RDONLY | O_DIRECTORY));
  sys::OwnedDirectory stream(::fdopendir(folder.get()));
  if (!stream) return sys::Error::from_errno("look at descriptors");
  (void)folder.release();
  std::vector<int> numbers;
  while (const dirent* each = ::readdir(stream.get())) {
    int number = -1;
    const std::string_view text = each->d_name;
    std::from_chars(text.data(), text.data() + text.size(), number);
    if (number > 2) numbers.push_back(number);
    if (numbers.size() > kMostDescriptors) break;
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<std::string> RestingProcess::stand(const ScratchLook& scratch,
                                          const std::array<FileNumber, 3>& given,
                                          ProcessStanding& standing) const {
  standing.umask = static_cast<uint32_t>(number_of(status_, "Umask:", 8).value_or(022));
  standing.blocked = number_of(status_, "SigBlk:", 16).value_or(0);
  struct stat found {};
  for (size_t number = 0; number < given.size(); ++number) {
    const std::string name = "fd/" + std::to_string(number),
                      info = "fdinfo/" + std::to_string(number);
    const bool is_there = ::fstatat(folder_.get(), name.c_str(), &found, 0) == 0;
    if (!is_there || number_of_file(found) != given[number])
      return std::string("standard streams that it has redirected");
    standing.has_changed =
        standing.has_changed || !is_as_given(TRY(read_text(info.c_str(), kMostText)));
  }
  if (::fstatat(folder_.get(), "cwd", &found, 0) < 0)
    return sys::Error::from_errno("look at a working directory");
  const auto directory = scratch.path_of.find({found.st_dev, found.st_ino});
  if (directory == scratch.path_of.end())
    return std::string("a working directory outside of its own");
  standing.directory = directory->second;
  const std::vector<int> numbers = TRY(descriptors());
  if (numbers.size() > kMostDescriptors) return std::string("too many open files");
  for (const int number : numbers) {
    std::string cannot = TRY(take_descriptor(number, scratch, standing));
    if (!cannot.empty()) return cannot;
  }
  return std::string();
}

}  // namespace runtime
