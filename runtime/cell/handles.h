#pragma once
// Handles: what the scheduler sees of a template process, of a cell and of a program's input. The
// scheduler decides by their states and asks them to end; it knows neither their descriptors nor
// their loop. Zygote, Cell and StdinFeed implement them, and the fake machine of the unit tests
// does. Used on one thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cell/observer.h"
#include "runtime/cell/output_files.h"
#include "runtime/job/job.h"
#include "runtime/job/outcome.h"
#include "runtime/job/result.h"
#include "runtime/sessions/node_store.h"
#include "sandbox/policy.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace runtime {

// A cell is made for jobs of one shape. Jobs that agree in these can share it, one after another.
struct CellShape {
  sandbox::Profile profile = sandbox::Profile::kDefault;
  sys::Bytes disk;
  uint32_t files = 0;
  sys::Bytes value;
  bool observe = false;
  // Nothing that the job is known to do keeps it from borrowing its memory, see make_request().
  bool may_borrow = true;
  bool runs_programs() const {  // of its scratch
    return profile == sandbox::Profile::kSubprocess || profile == sandbox::Profile::kBuild;
  }
  auto operator<=>(const CellShape&) const = default;
};
CellShape shape_of(const Job& job, bool may_borrow);

// A cell reports this of one run.
struct RunResult {
  std::vector<ObservedCall> observed;
  Evidence evidence;
  Testimony testimony;
  bool ran = false;                // the program was reached; exit is meaningful
  bool had_unfixed_child = false;  // fixed mode: it executed what does not load our library
  Output out, err;
  OutputFiles files;
  std::shared_ptr<const NodeState> state;  // of a step, as it is to be kept ...
  std::string why_no_state;                // ... or why it was not
  std::shared_ptr<HeldBytes> held;         // what out, err, the value and the files count
  sys::Nanoseconds ended_at{};
  Usage usage;
  Timing timing;
};

// Which of the processes of one template: a hash seed and an address layout, or those of fixed
// mode.
struct TemplateVariant {
  unsigned seed = 0;
  bool fixed = false;
};

class TemplateHandle {
 public:
  enum class State : uint8_t { kStarting, kReady, kRefused, kFailed };
  explicit TemplateHandle(std::shared_ptr<Incarnation> incarnation)
      : incarnation_(std::move(incarnation)) {}
  // Dropping it ends the template and every cell of it, and waits until a template that still lives
  // has ended. A loop that others share calls end() first and drops it when is_ending() is false.
  virtual ~TemplateHandle() = default;

  virtual State state() const = 0;
  virtual const std::string& identity() const = 0;  // "python-numpy@sha256:..."
  // Why it is refused (the template's own fault, e.g. a preload that starts threads) or failed
  // (ours).
  virtual const std::string& reason() const = 0;
  // In kFailed: that, as evidence; its error is that of the launcher, if it gave one.
  virtual Evidence::Fault fault() const = 0;
  // In kFailed: it was there, and a signal ended it. Another one may well live.
  virtual bool was_killed() const = 0;
  // Kills it, without waiting until its memory has been given back; kFailed or kRefused follows. A
  // template that has ended stays as it is.
  virtual void end() = 0;
  virtual bool is_ending() const = 0;  // after end(), until it is gone

  // What the nodes of its children share.
  const std::shared_ptr<Incarnation>& incarnation() const { return incarnation_; }

 private:
  const std::shared_ptr<Incarnation> incarnation_;
};

// The owner of a cell hears of it through these, in its own turn of the loop.
struct CellEvents {
  std::function<void()> ready;
  std::function<void(RunResult)> finished;  // then state() tells whether it may serve again
  std::function<void()> dead;               // outside of a run; the owner drops the cell
};

// A cell is a slot that runs one job at a time:
//
//   starting -> idle <-> running -> ... -> dead
//      ^                    ^ |
//      +----- occupied <----+-+
//
// An occupied cell has the process of a step that is over, which can go on as the next one.
// A cell that is not provably clean after a job, or that lost its pid 1, is never idle again.
class CellHandle {
 public:
  enum class State : uint8_t { kStarting, kIdle, kRunning, kOccupied, kDead };
  virtual ~CellHandle() = default;

  virtual State state() const = 0;
  virtual const CellShape& shape() const = 0;
  virtual sandbox::Layers layers() const = 0;  // in force
  // The reason why a cell died outside of a run.
  virtual const Evidence::Fault& fault() const = 0;
  // Renewal is due: too many jobs, a violation, memory left behind.
  virtual bool worn() const = 0;
  virtual bool is_fresh() const = 0;  // it has run no job

  // Whether a process may be left in it, stopped: what that has can be counted.
  virtual bool lets_stay() const = 0;
  // kOccupied: the process ends, and the cell will be ready again. kStarting until then.
  virtual void vacate() = 0;
  // Before a run. An error means that the cell cannot hold the job to its limits; is_fresh() tells
  // whether another cell could.
  virtual sys::Result<void> set_limits(const Limits& limits) = 0;
  virtual void cancel() = 0;            // the running job ends as Cancelled
  virtual void signal(int number) = 0;  // to the first process of the running job

  // Ends the cell for good; `gone` is called once its processes are no more (perhaps at once).
  virtual void end(std::function<void()> gone) = 0;
  virtual bool gone() const = 0;
};

// It feeds the program's standard input for as long as the program runs.
class JobInput {
 public:
  virtual ~JobInput() = default;
  virtual int reader() const = 0;  // for the cell; -1 after sent()
  virtual void sent() = 0;         // the cell has it, and from here on only the cell
};

}  // namespace runtime
