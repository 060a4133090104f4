#pragma once
// Standing: which running jobs make room for others on the CPU. A job that has computed for a while
// stands back, so that whoever begins, answers or is about to die has the CPU at once and not at
// the end of a tick; one that gets less than its share there stands in front until it has had it,
// so nobody starves. This is a multilevel feedback queue of two levels. A rule without a clock or
// a kernel.

#include <algorithm>
#include <chrono>

#include "sandbox/sys/units.h"

namespace runtime {

// The jobs that run on one CPU.
class Crowd {
 public:
  // The part of its time that each would have if all computed.
  double share() const { return 1.0 / std::max(1U, running_); }

  // A job runs for as long as this lives.
  class Member {
   public:
    explicit Member(Crowd& crowd) : crowd_(crowd) { ++crowd_.running_; }
    ~Member() { --crowd_.running_; }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

   private:
    Crowd& crowd_;
  };

 private:
  unsigned running_ = 0;
};

class Standing {
 public:
  // Most jobs have ended by the first look.
  static constexpr sys::Nanoseconds kFirstLook = std::chrono::milliseconds(20);
  static constexpr sys::Nanoseconds kPeriod = std::chrono::milliseconds(50);
  // CPU time after which a job is one that computes.
  static constexpr sys::Nanoseconds kShort = std::chrono::milliseconds(10);
  // Part of its share. A job that has had less than that is not held back; a job that needs less
  // hinders nobody.
  static constexpr double kEnough = 0.5;

  // A job begins, in front. The next look is due at kFirstLook, and then each kPeriod.
  void begin(sys::Nanoseconds now) { began_ = now; }

  // `used`: its CPU time since it began; `share`: of the Crowd. True: it stands back from now on.
  bool stands_back(sys::Nanoseconds now, sys::Nanoseconds used, double share) const {
    const double due = kEnough * share * static_cast<double>((now - began_).count());
    return used >= kShort && static_cast<double>(used.count()) >= due;
  }

 private:
  sys::Nanoseconds began_{};
};

}  // namespace runtime
