#include "shim/rseq.h"

#include <linux/rseq.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#ifndef AT_RSEQ_FEATURE_SIZE
#define AT_RSEQ_FEATURE_SIZE 27
#endif

// Where the C library registers its area (glibc 2.35, <sys/rseq.h>); null before.
extern "C" [[gnu::weak]] const ptrdiff_t __rseq_offset;

namespace shim {
namespace {

constexpr unsigned kAreaBytes = 32;          // of the first version of rseq(2)
constexpr unsigned kSignature = 0x53053053;  // glibc's RSEQ_SIG of x86

long unregister_area(void* area, unsigned bytes) {
  return ::syscall(SYS_rseq, area, bytes, RSEQ_FLAG_UNREGISTER, kSignature);
}

}  // namespace

bool leave_rseq() {
  if (&__rseq_offset) {
    char* area = static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset;
    const auto newer = static_cast<unsigned>(::getauxval(AT_RSEQ_FEATURE_SIZE) + 31) & ~31u;
    if (unregister_area(area, kAreaBytes) < 0 && newer > kAreaBytes)
      (void)unregister_area(area, newer);
  }
  alignas(32) static char other[kAreaBytes];
  if (::syscall(SYS_rseq, other, kAreaBytes, 0, kSignature) < 0) return errno == ENOSYS;
  return unregister_area(other, kAreaBytes) == 0;
}

}  // namespace shim
