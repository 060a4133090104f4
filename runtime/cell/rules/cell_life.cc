#include "runtime/cell/rules/cell_life.h"

#include <utility>

#include "sandbox/sys/result.h"

namespace runtime {

CellLife::Birth CellLife::on_born(bool has_process) {
  if (state_ == State::kDead) return Birth::kUnwanted;
  if (!has_process) return Birth::kFailed;
  born_ = true;
  return Birth::kBorn;
}

bool CellLife::on_ready() { return state_ == State::kStarting && !std::exchange(ready_, true); }

bool CellLife::completes() {
  if (state_ != State::kStarting || !born_ || !ready_) return false;
  state_ = State::kIdle;
  return true;
}

CellLife::Timer CellLife::on_timer() const {
  switch (state_) {
    case State::kStarting:
      return Timer::kTooLate;
    case State::kIdle:
    case State::kOccupied:
      return Timer::kNothing;
    case State::kRunning:
      return Timer::kRun;
    case State::kDead:
      break;
  }
  return born_ ? Timer::kKill : Timer::kNothing;
}

void CellLife::begin_run() {
  VERIFY(state_ == State::kIdle || state_ == State::kOccupied);
  state_ = State::kRunning;
  ++jobs_;
}

void CellLife::judge(const Leftovers& left) {
  if (!left.clean || jobs_ >= kMostJobs || left.oom_kills > 0 || left.memory > kMemoryLeftBehind) {
    worn_ = true;
  }
}

void CellLife::finish_run(bool reusable) {
  if (state_ == State::kRunning) state_ = reusable ? State::kIdle : State::kDead;
}

void CellLife::stay() {
  if (state_ == State::kIdle) state_ = State::kOccupied;
}

void CellLife::vacate() {
  VERIFY(state_ == State::kOccupied);
  state_ = State::kStarting;
  vacating_ = true;
}

bool CellLife::finish_vacating(bool reusable) {
  if (!std::exchange(vacating_, false) || state_ != State::kStarting || !reusable) return false;
  state_ = State::kIdle;
  return true;
}

CellLife::Loss CellLife::lose() {
  const State before = std::exchange(state_, State::kDead);
  if (before == State::kDead) return Loss::kKnown;
  return before == State::kRunning ? Loss::kOfRun : Loss::kOfCell;
}

}  // namespace runtime
