#include "sandbox/sys/userfault.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sys {

namespace {

constexpr uint64_t kWpHugetlbShmem = 1 << 12, kWpUnpopulated = 1 << 13, kWpAsync = 1 << 15;

}  // namespace

int open_userfault() { return static_cast<int>(::syscall(SYS_userfaultfd, kUserfaultFlags)); }

bool begin_write_tracking(int userfault) {
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kWpAsync | kWpUnpopulated | kWpHugetlbShmem;
  return ::ioctl(userfault, UFFDIO_API, &api) == 0;
}

int open_write_tracking() {
  const int fd = open_userfault();
  if (fd < 0 || begin_write_tracking(fd)) return fd;
  ::close(fd);
  return -1;
}

bool track_writes(int tracking, uint64_t begin, uint64_t end) {
  uffdio_register request{};
  request.range = {begin, end - begin};
  request.mode = UFFDIO_REGISTER_MODE_WP;
  return ::ioctl(tracking, UFFDIO_REGISTER, &request) == 0;
}

bool protect_pages(int tracking, uint64_t begin, uint64_t end) {
  uffdio_writeprotect request{};
  request.range = {begin, end - begin};
  request.mode = UFFDIO_WRITEPROTECT_MODE_WP;
  return ::ioctl(tracking, UFFDIO_WRITEPROTECT, &request) == 0;
}

}  // namespace sys
