#include "sandbox/notify/memory.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>

#include "sandbox/sys/file.h"
#include "sandbox/sys/identity.h"

namespace sandbox {
namespace {

constexpr uint64_t kPage = 4096;  // the smallest; more pieces than needed do no harm

ssize_t read_through_vm(int pid, uint64_t address, char* into, size_t size) {
  // One piece per page: a transfer stops at the piece that fails, and the rest must survive it.
  iovec remote[PATH_MAX / kPage + 1];
  size_t pieces = 0;
  for (size_t done = 0; done < size; ++pieces) {
    uint64_t at = address + done;
    size_t piece = std::min<size_t>(size - done, kPage - at % kPage);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process.
    remote[pieces] = {reinterpret_cast<void*>(at), piece};
    done += piece;
  }
  iovec local = {into, size};
  return ::process_vm_readv(pid, &local, 1, remote, pieces, 0);
}

// Outer sandboxes forbid process_vm_readv more often than this.
ssize_t read_through_proc(const Caller& caller, uint64_t address, char* into, size_t size) {
  sys::FileIdentity as_caller(caller.id);
  auto memory = sys::open("/proc/" + std::to_string(caller.pid) + "/mem", O_RDONLY);
  if (!memory) return -1;
  return ::pread(memory->get(), into, size, static_cast<off_t>(address));
}

}  // namespace

std::optional<std::string> Caller::bytes(uint64_t address, size_t size) const {
  if (pid <= 0 || address == 0 || address > ~uint64_t{0} - PATH_MAX) return std::nullopt;
  std::string out(std::min<size_t>(size, PATH_MAX), '\0');
  ssize_t n = read_through_vm(pid, address, out.data(), out.size());
  if (n < 0) n = read_through_proc(*this, address, out.data(), out.size());
  if (n < 0) return std::nullopt;
  out.resize(static_cast<size_t>(n));
  return out;
}

std::optional<std::string> Caller::path(uint64_t address) const {
  std::optional<std::string> text = bytes(address, PATH_MAX);
  if (!text) return std::nullopt;
  size_t end = text->find('\0');
  if (end == std::string::npos) return std::nullopt;
  text->resize(end);
  return text;
}

std::optional<std::string> Caller::directory(int fd) const {
  if (pid <= 0) return std::nullopt;
  char link[64];
  if (fd == AT_FDCWD) {
    std::snprintf(link, sizeof link, "/proc/%d/cwd", pid);
  } else {
    std::snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, fd);
  }
  char target[PATH_MAX];
  sys::FileIdentity as_caller(id);
  ssize_t n = ::readlink(link, target, sizeof target);
  if (n <= 0 || target[0] != '/') return std::nullopt;
  return std::string(target, static_cast<size_t>(n));
}

}  // namespace sandbox
