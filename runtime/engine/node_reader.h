#pragma once
// NodeReader: a thread on which nodes come back from the disk before their steps are put in line.
// It is started when the first is wanted. Thread-safe.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace runtime {

class NodeReader {
 public:
  // False: there was no room, and it is to be tried again; not if `is_last`.
  using Attempt = std::function<bool(bool is_last)>;
  static constexpr sys::Milliseconds kPatience{30'000};  // for room

  ~NodeReader() { stop(); }
  // An error: there is no room for a thread, and nothing is tried.
  sys::Result<void> run(Attempt attempt);
  // There may be room now for what had none.
  void look_again();
  // All that waits is tried once more, for the last time; nothing may be run from then on.
  void stop();

 private:
  struct Errand {
    Attempt attempt;
    sys::Nanoseconds until{};
  };
  void serve();
  void wait(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable come_;
  std::deque<Errand> waiting_;
  std::vector<Errand> stuck_;
  uint64_t looks_ = 0;  // times that there may have been room
  bool is_closing_ = false;
  std::thread thread_;
};

}  // namespace runtime
