#pragma once
// Scaler: keeps as many slots at a batch engine as the jobs of a router want. Each look asks both
// how things stand and takes one step (ScaleRule); it remembers nothing of slots, so that one that
// is started again goes on with those that its name finds. Blocks while commands run.

#include <functional>
#include <string>
#include <vector>

#include "cluster/engines/slot.h"
#include "cluster/scale/router_view.h"
#include "cluster/scale/scale_rule.h"
#include "cluster/scale/slots.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace cluster {

class Scaler {
 public:
  struct House {
    std::function<sys::Result<RouterView>()> router;
    std::function<sys::Result<std::string>(const EngineCommand&)> run;  // what it wrote
    std::function<std::string(unsigned)> printed;  // what starts so many pilots
  };
  struct Options {
    Engine engine = Engine::kSlurm;
    std::string name = {};  // of the slots
    std::vector<std::string> directives = {};
    ScaleLimits limits = {};
    bool only_says = false;  // what it would do
  };
  struct Report {
    ScaleLook look = {};
    ScaleStep step = {};
    std::string trouble = {};  // nothing, or not all, of this look could be done
    std::string waits = {};    // what the engine says of a slot that waits
  };

  Scaler(House house, Options options);
  Report look(sys::Nanoseconds now);
  // Cancels the slots that are there. How many were.
  sys::Result<size_t> end();

 private:
  sys::Result<std::vector<EngineSlot>> slots() const;
  sys::Result<void> carry_out(const ScaleStep& step, const std::vector<EngineSlot>& slots,
                              const RouterView& view) const;
  sys::Result<void> cancel(std::vector<std::string> ids) const;

  const House house_;
  const Options options_;
  ScaleRule rule_;
};

}  // namespace cluster
