#pragma once
// CellLife: the states of a cell from its order to its end, outside of the clock of its job
// (RunClock): which message belongs to which state, what the silence of its processes means, when
// it may serve again and when it is worn. Cell owns one, tells it what has come, and does what it
// says. A rule without a loop, a descriptor or a clock.

#include <chrono>
#include <cstdint>

#include "runtime/cell/handles.h"
#include "sandbox/sys/units.h"

namespace runtime {

class CellLife {
 public:
  using State = CellHandle::State;
  static constexpr std::chrono::seconds kBirthPatience{60};  // a cell is made in milliseconds
  static constexpr std::chrono::seconds kLeave{2};           // and goes in less
  static constexpr uint64_t kMostJobs = 10000;
  // Page cache and slab that jobs may leave behind; above it, a cell is renewed.
  static constexpr sys::Bytes kMemoryLeftBehind = sys::mebibytes(24);

  State state() const { return state_; }
  bool is_running() const { return state_ == State::kRunning; }
  bool is_worn() const { return worn_; }
  bool is_fresh() const { return jobs_ == 0; }

  // ---- its birth: its template says that it was born, and it says itself that it is ready. The
  // two come by different sockets, in either order.

  enum class Birth : uint8_t {
    kUnwanted,  // what it said of itself came first, and was no good: it has to be killed
    kFailed,
    kBorn,
  };
  Birth on_born(bool has_process);
  // False: it has said so before, or says so at a wrong time. It is lost.
  bool on_ready();
  // Both have come; once.
  bool completes();

  // ---- messages of a job's run

  // A message names the run that it belongs to; one of another run, or of none, is ignored.
  bool heeds(bool is_of_this_run) const { return is_running() && is_of_this_run; }
  // Its socket was hung up. True: its template knows why, and will say so; otherwise it is lost.
  bool waits_for_its_template() const { return state_ == State::kStarting && !born_; }

  enum class Timer : uint8_t {
    kNothing,
    kTooLate,  // it was not ready within kBirthPatience: it is lost
    kRun,      // the run's clock says what is due
    kKill,     // it did not leave within kLeave
  };
  Timer on_timer() const;

  // ---- its jobs and its end

  void begin_run();  // in kIdle and kOccupied only
  void wear_out() { worn_ = true; }
  struct Leftovers {
    bool clean = false;  // pid 1 says that nothing of the job is left
    uint32_t oom_kills = 0;
    sys::Bytes memory;  // that the cell uses beside its own
  };
  // A job has ended. Whether renewal is due.
  void judge(const Leftovers& left);
  void finish_run(bool reusable);
  void stay();  // after finish_run(): the process of its job
  void vacate();
  bool is_vacating() const { return vacating_; }
  // Null: it is lost.
  bool finish_vacating(bool reusable);

  enum class Loss : uint8_t {
    kKnown,  // it was dead before
    kOfRun,  // its job ends with it
    kOfCell,
  };
  Loss lose();
  void end() { state_ = State::kDead; }

 private:
  State state_ = State::kStarting;
  bool born_ = false, ready_ = false, worn_ = false, vacating_ = false;
  uint64_t jobs_ = 0;
};

}  // namespace runtime
