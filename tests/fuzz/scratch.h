#pragma once
// Fuzz targets of code with descriptors and paths need these: files in memory that are made once,
// and the standard error stream caught, to be looked at.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef ZYGO_FUZZ
#include <sanitizer/common_interface_defs.h>
#endif

#include <cstdint>
#include <string>
#include <string_view>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/result.h"

namespace fuzz {

// A file with a path that holds what it was given last.
class MemoryFile {
 public:
  int fd() const { return fd_.get(); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd()); }
  void hold(std::string_view bytes) const {
    VERIFY(::ftruncate(fd(), 0) == 0 && ::lseek(fd(), 0, SEEK_SET) == 0);
    VERIFY(sys::write_all(fd(), bytes).ok());
    VERIFY(::lseek(fd(), 0, SEEK_SET) == 0);
  }
  std::string content() const {
    VERIFY(::lseek(fd(), 0, SEEK_SET) == 0);
    return sys::read_all(fd()).value();
  }

 private:
  sys::OwnedFd fd_ = sys::memfd("zygo-fuzz", 0).value();
};

// The text that `act` writes to stderr, without a sanitizer's reports, which reach the true stream.
template <typename Act>
std::string stderr_of(const MemoryFile& caught, Act act) {
  static const sys::OwnedFd real = [] {
    sys::OwnedFd copy = sys::duplicate(STDERR_FILENO).value();
#ifdef ZYGO_FUZZ
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the interface wants it so.
    __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<intptr_t>(copy.get())));
#endif
    return copy;
  }();
  caught.hold("");
  VERIFY(::dup2(caught.fd(), STDERR_FILENO) >= 0);
  act();
  VERIFY(::dup2(real.get(), STDERR_FILENO) >= 0);
  return caught.content();
}

}  // namespace fuzz
