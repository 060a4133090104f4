#include "sandbox/sys/thread.h"

#include <system_error>

namespace sys {

Result<std::thread> start_thread(std::function<void()> work, Milliseconds patience) {
  const Nanoseconds deadline = monotonic_now() + patience;
  for (;;) {
    try {
      return std::thread(work);
    } catch (const std::system_error& error) {
      if (monotonic_now() >= deadline)
        return Error::from_errno("start a thread", error.code().value());
      std::this_thread::sleep_for(Milliseconds(20));
    }
  }
}

}  // namespace sys
