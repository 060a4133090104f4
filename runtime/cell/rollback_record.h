#pragma once
// RollbackRecord: how often the memory that jobs borrow could not be brought back
// (shim/borrow/holder.h), by template. After a few failures within minutes the cells of that template
// borrow no more for a while: something about it or about this host does not fit, or its programs
// cause it on purpose, and a fork is then cheaper than a new cell each time. The time is an
// argument. Thread-safe.

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "sandbox/sys/units.h"

namespace runtime {

class RollbackRecord {
 public:
  // So many failures of one template, none of them longer than kMemory after the one before.
  static constexpr uint64_t kMostFailures = 3;
  static constexpr std::chrono::seconds kMemory{60};

  void count_failure(const std::string& template_name, sys::Nanoseconds now) {
    std::lock_guard lock(mutex_);
    Failures& failures = failures_[template_name];
    failures.count = now - failures.last > kMemory ? 1 : failures.count + 1;
    failures.last = now;
    ++all_;
  }
  // Processes are scarce, and a cell that lends its memory has one more than one that forks: no
  // cell of the template lends for a while.
  void pause(const std::string& template_name, sys::Nanoseconds now) {
    std::lock_guard lock(mutex_);
    failures_[template_name] = {kMostFailures, now};
  }
  bool is_trusted(const std::string& template_name, sys::Nanoseconds now) const {
    std::lock_guard lock(mutex_);
    const auto found = failures_.find(template_name);
    return found == failures_.end() || found->second.count < kMostFailures ||
           now - found->second.last > kMemory;
  }
  uint64_t failures() const {
    std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  struct Failures {
    uint64_t count = 0;
    sys::Nanoseconds last{};
  };
  mutable std::mutex mutex_;
  std::map<std::string, Failures> failures_;
  uint64_t all_ = 0;
};

}  // namespace runtime
