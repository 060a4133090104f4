#include "runtime/cell/memory/shared_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>

#include "sandbox/sys/file.h"
#include "shim/protocol.h"

namespace runtime {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {
constexpr size_t kPage = 4096;
// This much stays in place between jobs: most answers and requests fit, and to zero it is cheaper
// than to have it anew.
constexpr size_t kKept = kPage;
}  // namespace

Result<SharedMemory> SharedMemory::create(const char* name, size_t bytes) {
  SharedMemory memory;
  memory.bytes_ = (bytes + kPage - 1) & ~(kPage - 1);
  memory.fd_ = TRY(sys::memfd(name, memory.bytes_));
  if (::fcntl(memory.fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
    return Error::from_errno(std::string("seal ") + name);
  }
  return memory;
}

bool SharedMemory::clear() const {
  static constexpr std::array<char, kKept> kZeros{};
  if (::pwrite(fd_.get(), kZeros.data(), kKept, 0) != static_cast<ssize_t>(kKept)) return false;
  if (bytes_ == kKept) return true;
  struct stat info {};
  if (::fstat(fd_.get(), &info) < 0) return false;
  if (static_cast<size_t>(info.st_blocks) * 512 <= kKept) return true;
  return ::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kKept,
                     static_cast<off_t>(bytes_ - kKept)) == 0;
}

Result<RequestMemory> RequestMemory::create() {
  RequestMemory memory;
  memory.short_ = TRY(SharedMemory::create("zygo-request", shim::kShortRequest));
  return memory;
}

Result<OwnedFd> RequestMemory::for_reading() const {
  return sys::open("/proc/self/fd/" + std::to_string(short_.fd()), O_RDONLY);
}

Result<OwnedFd> RequestMemory::put(std::string_view request) {
  if (request.size() >= shim::kShortRequest) return sys::sealed_memfd("zygo-request", request);
  if (!is_clear_ && !clear()) return Error::from_errno("clear request");
  is_clear_ = false;
  ssize_t n = ::pwrite(short_.fd(), request.data(), request.size(), 0);
  if (n != static_cast<ssize_t>(request.size())) return Error::from_errno("write request");
  return OwnedFd();
}

bool RequestMemory::clear() {
  is_clear_ = is_clear_ || short_.clear();
  return is_clear_;
}

}  // namespace runtime
