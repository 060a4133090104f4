#pragma once
// Requests: what other threads ask of a scheduler, which does it on its next turn. One that is made
// again before that turn is done once.

#include <array>
#include <atomic>
#include <cstddef>

#include "runtime/scheduler/machine.h"

namespace runtime {

class Requests {
 public:
  enum class Kind { kCancel, kCancelWithdrawn, kPassSignals, kGiveBack };

  explicit Requests(Machine& machine) : machine_(machine) {}

  // Any thread.
  void make(Kind kind) {
    made_[static_cast<size_t>(kind)] = true;
    machine_.wake();
  }
  void announce_stop() { stopping_ = true; }  // before all are stopped
  void stop() {
    stopping_ = true;
    machine_.wake();
  }
  bool is_stopping() const { return stopping_; }  // for good

  // The scheduler's thread: was it made since the last call?
  bool take(Kind kind) { return made_[static_cast<size_t>(kind)].exchange(false); }

 private:
  Machine& machine_;
  std::array<std::atomic<bool>, 4> made_{};
  std::atomic<bool> stopping_{false};
};

}  // namespace runtime
