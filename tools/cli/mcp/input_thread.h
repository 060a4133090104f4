#pragma once
// InputThread: reads a descriptor that may block, and may be a plain file, on a thread of its own,
// and hands the bytes to a loop. It reads no further until they are taken.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/loop/loop.h"
#include "sandbox/sys/fd.h"

namespace cli {

class InputThread {
 public:
  // Both are called in the loop; `ended` once, behind all bytes. Borrows the descriptor.
  InputThread(runtime::Loop& loop, int fd, std::function<void(std::string_view)> arrived,
              std::function<void()> ended);
  ~InputThread();
  InputThread(const InputThread&) = delete;

 private:
  void read_all();
  void hand_over();

  const int fd_;
  const std::function<void(std::string_view)> arrived_;
  const std::function<void()> ended_;
  const sys::OwnedFd stop_;  // an eventfd: this object ends
  std::mutex mutex_;
  std::condition_variable taken_;
  std::string bytes_;
  bool at_end_ = false, has_told_ = false, stopping_ = false;
  runtime::Wakeup wakeup_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace cli
