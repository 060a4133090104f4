#include "sandbox/sys/random.h"

#include <sys/random.h>

#include "sandbox/sys/result.h"

namespace sys {

uint64_t random_number() {
  uint64_t number = 0;
  // Up to 256 bytes come whole, whatever the signals (getrandom(2)).
  VERIFY(::getrandom(&number, sizeof number, 0) == static_cast<ssize_t>(sizeof number));
  return number;
}

}  // namespace sys
