#pragma once
// BatchLoop: lines of jobs in, lines of results out, in completion order. Runs on the main thread
// and polls the input, the stop signal and the outbox; jobs run and finish on the engine's threads.
// Reads on only while there is room, so an endless input never fills the memory. Borrows
// everything.

#include <optional>

#include "runtime/engine/engine.h"
#include "tools/cli/batch/guests.h"
#include "tools/cli/batch/job_lines.h"
#include "tools/cli/batch/outbox.h"
#include "tools/cli/batch/progress.h"
#include "tools/cli/batch/under_way.h"

namespace cli {

class BatchLoop {
 public:
  struct Ends {
    int in = 0, out = 1;
    int stop = -1;             // readable: end now
    bool shared = false;       // the engine has jobs of others, too
    Guests* guests = nullptr;  // whose door is watched
  };
  enum class Why { kDone, kInterrupted, kReaderGone, kCannotRead, kCannotWrite };
  struct Report {
    Why why = Why::kDone;
    Tally tally;
    double seconds = 0;
    std::optional<sys::Error> error;  // of kCannotRead and kCannotWrite
  };

  BatchLoop(runtime::Engine& engine, JobLines lines, Progress progress, Outbox::Bounds bounds)
      : engine_(engine),
        lines_(std::move(lines)),
        progress_(std::move(progress)),
        bounds_(bounds) {}

  Report run(Ends ends, size_t longest_line = runtime::kMaxJobBytes);

 private:
  void take_lines();
  bool announces_parts(const Line& line);
  void accept(Line line);
  void wait();
  std::optional<Why> ended();
  void abandon();
  bool is_guest() const { return ends_.shared && ends_.guests == nullptr; }

  runtime::Engine& engine_;
  JobLines lines_;
  Progress progress_;
  Outbox::Bounds bounds_;

  Ends ends_;
  LineReader reader_{runtime::kMaxJobBytes};
  std::shared_ptr<Outbox> outbox_;
  std::shared_ptr<UnderWay> under_way_ = std::make_shared<UnderWay>();
  bool full_ = false;  // wants room; else more input, if there is to be any
  bool stopped_ = false, reader_gone_ = false;
  std::optional<sys::Error> read_error_;
};

}  // namespace cli
