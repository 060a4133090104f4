#pragma once
// Trial: one round of a certification. Runs jobs of a corpus on an engine, as many at once as its
// workers, and scores the results. On the caller's thread, which waits; results come from the
// engine's. Borrows everything.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/engine/engine.h"
#include "tools/cli/batch/progress.h"
#include "tools/cli/certify/scoring.h"
#include "tools/cli/run/inbox.h"

namespace cli {

class Trial {
 public:
  // `stop`: a descriptor that becomes readable when it is to end; or -1.
  Trial(runtime::Engine& engine, const std::vector<LabelledJob>& corpus, Progress progress,
        int stop)
      : engine_(engine), corpus_(corpus), progress_(std::move(progress)), stop_(stop) {}

  // `order`: what is run, as indices of the corpus. `end_kills`, of a round with faults: called
  // when no job is under way, and nothing is killed from then on. False: it was stopped, and all is
  // cancelled.
  bool run(const std::vector<size_t>& order, Scorer& scorer,
           const std::function<void()>& end_kills = nullptr);

 private:
  void submit(size_t index, unsigned attempt);
  bool run_all(const std::vector<size_t>& order, Scorer& scorer);
  void take(const Arrival& arrival, Scorer& scorer);

  runtime::Engine& engine_;
  const std::vector<LabelledJob>& corpus_;
  Progress progress_;
  const int stop_;
  std::shared_ptr<Inbox> inbox_;
  size_t under_way_ = 0;
  bool kills_ = false;
  std::vector<size_t> for_the_end_;
  Tally tally_;
};

}  // namespace cli
