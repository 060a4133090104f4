#pragma once
// Rerun: runs recorded jobs again on an engine and compares. On the caller's thread, which waits;
// results come from the engine's. Borrows everything.

#include <memory>
#include <optional>
#include <vector>

#include "runtime/engine/engine.h"
#include "tools/cli/replay/comparison.h"
#include "tools/cli/replay/recorded.h"
#include "tools/cli/run/inbox.h"

namespace cli {

// What came of one recorded result.
struct Replayed {
  enum class Chance : uint8_t {
    kUnknown,  // the same, or it asked for the same bytes
    kYes,      // runs here differ among themselves
    kNo,       // they do not, as far as they went
  };
  std::optional<Difference> difference;  // the first, of the first run that has one
  std::string label;                     // of the first run
  std::string obstacle;                  // why a run could not be had here; empty: there is none
  unsigned runs = 0, differ = 0;
  Chance chance = Chance::kUnknown;
  bool is_compared() const { return differ > 0 || (runs > 0 && obstacle.empty()); }
  bool is_same() const { return runs > 0 && differ == 0 && obstacle.empty(); }
};

class Rerun {
 public:
  // `stop`: a descriptor that becomes readable when it is to end; or -1.
  Rerun(runtime::Engine& engine, const std::vector<Recorded>& recorded, int stop)
      : engine_(engine), recorded_(recorded), stop_(stop), replayed_(recorded.size()) {}

  // Each so many times; those with an obstacle not at all. One that differs and may do so by chance
  // is run once more, to see whether it differs from itself. False: it was stopped, and all is
  // cancelled.
  bool run(unsigned runs);
  const std::vector<Replayed>& replayed() const { return replayed_; }

 private:
  bool run_all(const std::vector<size_t>& order);
  void submit(size_t index, unsigned attempt);
  void take(Arrival arrival);
  void compare(size_t index, runtime::JobResult here);

  runtime::Engine& engine_;
  const std::vector<Recorded>& recorded_;
  const int stop_;
  std::vector<Replayed> replayed_;
  std::vector<std::optional<runtime::JobResult>> firsts_;
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  size_t under_way_ = 0;
  bool is_trial_ = false;  // for the second look: only chance is in question
};

}  // namespace cli
