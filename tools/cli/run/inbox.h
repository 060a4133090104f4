#pragma once
// Inbox: results of many jobs on their way from the engine's threads to the one that waits for
// them. Shared with the engine's callbacks, which may outlive the wait. Owns an eventfd.

#include <sys/eventfd.h>
#include <unistd.h>

#include <deque>
#include <mutex>
#include <utility>

#include "runtime/job/result.h"
#include "sandbox/sys/fd.h"

namespace cli {

struct Arrival {
  size_t index = 0;  // of the job, as its sender counts
  unsigned attempt = 0;
  runtime::JobResult result;
};

class Inbox {
 public:
  int fd() const { return bell_.get(); }  // readable when something has come

  void put(Arrival arrival) {
    std::lock_guard lock(mutex_);
    arrivals_.push_back(std::move(arrival));
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(bell_.get(), &one, sizeof one);
  }

  std::deque<Arrival> take_all() {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = ::read(bell_.get(), &count, sizeof count);
    std::lock_guard lock(mutex_);
    return std::exchange(arrivals_, {});
  }

 private:
  sys::OwnedFd bell_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex_;
  std::deque<Arrival> arrivals_;
};

}  // namespace cli
