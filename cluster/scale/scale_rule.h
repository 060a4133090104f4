#pragma once
// ScaleRule: how many more or fewer pilots an engine is asked for. From a router's one signal, the
// time that a job which comes now would wait, and from what the pilots have to do. Pure: the time
// is an argument.

#include <optional>

#include "sandbox/sys/units.h"

namespace cluster {

struct ScaleLimits {
  unsigned least = 0, most = 1;         // pilots, at any time
  sys::Milliseconds wait{2'000};        // more of them while jobs wait for longer
  sys::Milliseconds idle{120'000};      // fewer of them after so long with less than half to do
  sys::Milliseconds settling{120'000};  // from a slot's begin to its pilot's joining, at most
};

// What the engine and the router say at one time.
struct ScaleLook {
  unsigned waiting = 0;    // slots that the engine has not begun
  unsigned running = 0;    // and that it has
  unsigned joined = 0;     // pilots of these that have joined
  unsigned workers = 0;    // of all pilots that have joined
  unsigned under_way = 0;  // jobs that run or wait at them
  sys::Milliseconds wait{0};
};

struct ScaleStep {
  unsigned more = 0;    // slots to ask for
  unsigned recall = 0;  // of those that wait, the last ones
  unsigned retire = 0;  // of those that run, the ones with the least to do
  bool operator==(const ScaleStep&) const = default;
};

class ScaleRule {
 public:
  explicit ScaleRule(const ScaleLimits& limits) : limits_(limits) {}
  ScaleStep step(const ScaleLook& look, sys::Nanoseconds now);

 private:
  ScaleStep grow(const ScaleLook& look, sys::Nanoseconds now);
  ScaleStep shrink(const ScaleLook& look, sys::Nanoseconds now);

  ScaleLimits limits_;
  std::optional<sys::Nanoseconds> grown_;  // the last time
  std::optional<sys::Nanoseconds> idle_since_;
};

// Slots that wait go first.
ScaleStep fewer(const ScaleLook& look, unsigned count);

}  // namespace cluster
