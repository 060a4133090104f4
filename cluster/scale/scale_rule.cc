#include "cluster/scale/scale_rule.h"

#include <algorithm>
#include <cmath>

namespace cluster {

ScaleStep fewer(const ScaleLook& look, unsigned count) {
  const unsigned recalled = std::min(count, look.waiting);
  return {.recall = recalled, .retire = std::min(count - recalled, look.running)};
}

ScaleStep ScaleRule::step(const ScaleLook& look, sys::Nanoseconds now) {
  const unsigned all = look.waiting + look.running;
  if (all < limits_.least) {
    grown_ = now;
    return {.more = limits_.least - all};
  }
  if (all > limits_.most) return fewer(look, all - limits_.most);
  if (look.wait > limits_.wait) return grow(look, now);
  return shrink(look, now);
}

// Twice as many at most. What waits in the engine's queue shows that it has no room for more, and
// what has begun and not joined yet has to show first what it is good for.
ScaleStep ScaleRule::grow(const ScaleLook& look, sys::Nanoseconds now) {
  idle_since_.reset();
  const unsigned all = look.waiting + look.running;
  const bool settles = look.joined < look.running && grown_ && now - *grown_ < limits_.settling;
  if (look.waiting > 0 || settles || all >= limits_.most) return {};
  const double over = static_cast<double>(look.wait.count()) /
                          static_cast<double>(std::max<int64_t>(1, limits_.wait.count())) -
                      1;
  const auto wanted = static_cast<unsigned>(std::ceil(all * std::min(over, 1.0)));
  grown_ = now;
  return {.more = std::clamp(wanted, 1u, limits_.most - all)};
}

// As many stay as have twice as many workers as there are jobs. Half of those that run go at once.
ScaleStep ScaleRule::shrink(const ScaleLook& look, sys::Nanoseconds now) {
  const unsigned all = look.waiting + look.running;
  const double each = look.joined > 0 ? static_cast<double>(look.workers) / look.joined : 1;
  const double needed = std::ceil(2 * look.under_way / std::max(1.0, each));
  const unsigned stay = std::max(limits_.least, static_cast<unsigned>(std::min(needed, 1e6)));
  if (look.wait.count() > 0 || stay >= all) {
    idle_since_.reset();
    return {};
  }
  if (!idle_since_) idle_since_ = now;
  if (now - *idle_since_ < limits_.idle) return {};
  idle_since_ = now;
  ScaleStep step = fewer(look, all - stay);
  step.retire = std::min(step.retire, std::max(1u, (look.running + 1) / 2));
  return step;
}

}  // namespace cluster
