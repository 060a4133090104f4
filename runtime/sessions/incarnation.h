#pragma once
// Incarnation: the life of one template process. A node can be put back into its children only:
// nodes share it, and its owner sees by their number whether any needs the process. The children
// may be of any scheduler of the engine. Thread-safe.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sandbox/sys/units.h"

namespace runtime {

class Incarnation {
 public:
  explicit Incarnation(std::string identity = {}) : identity_(std::move(identity)) {}
  virtual ~Incarnation() = default;
  Incarnation(const Incarnation&) = delete;

  const std::string& identity() const { return identity_; }  // "python-numpy@sha256:..."

  // Its process is gone, or no good.
  void end() { has_ended_ = true; }
  bool has_ended() const { return has_ended_; }

  // When a step went on from one of its nodes last.
  void use(sys::Nanoseconds now) { used_ = now; }
  sys::Nanoseconds used() const { return used_; }

  // Steps that go on from its nodes, and have a child of it or are about to. False: they come too
  // late.
  bool enter() {
    if (has_ended_) return false;
    int visitors = visitors_;
    while (visitors != kClosed && !visitors_.compare_exchange_weak(visitors, visitors + 1)) {
    }
    return visitors != kClosed;
  }
  void leave() { --visitors_; }
  // Nobody can go on from its nodes any more.
  bool is_over() const { return has_ended_ || visitors_ == kClosed; }
  bool has_visitors() const { return visitors_ > 0; }
  // Nobody comes any more, as the process is about to be ended. False: somebody is there.
  bool close() {
    int nobody = 0;
    return visitors_.compare_exchange_strong(nobody, kClosed) || nobody == kClosed;
  }

 private:
  static constexpr int kClosed = -1;
  const std::string identity_;
  std::atomic<int> visitors_{0};
  std::atomic<bool> has_ended_{false};
  std::atomic<sys::Nanoseconds> used_{sys::Nanoseconds()};
};

// One that entered, until it is dropped.
class Visit {
 public:
  static std::optional<Visit> begin(std::shared_ptr<Incarnation> at) {
    if (!at->enter()) return std::nullopt;
    return Visit(std::move(at));
  }
  Visit(Visit&&) = default;
  Visit& operator=(Visit&& other) noexcept {
    std::swap(at_, other.at_);
    return *this;
  }
  ~Visit() {
    if (at_) at_->leave();
  }

 private:
  explicit Visit(std::shared_ptr<Incarnation> at) : at_(std::move(at)) {}
  std::shared_ptr<Incarnation> at_;
};

}  // namespace runtime
