#pragma once
// RunClock: the states of one run of a job and all of its deadlines. Cell owns one. It tells the
// clock what has happened, asks what is due, and carries that out: the cell alone reads accounts,
// kills processes and sets the timer. A rule without a loop, a descriptor or a clock of its own:
// each time is an argument, by the monotonic clock. Nothing is allocated.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/cell/rules/late_start.h"
#include "runtime/cell/rules/standing.h"
#include "runtime/job/waiting.h"
#include "sandbox/sys/units.h"

namespace runtime {

class RunClock {
 public:
  static constexpr sys::Nanoseconds kNever = sys::Nanoseconds::max();
  // Output is not watched in the first moments of a job: most jobs end before, and are drained
  // then.
  static constexpr sys::Nanoseconds kAttention = std::chrono::milliseconds(2);
  // After a kill the cell must be empty within this, or it is destroyed.
  static constexpr sys::Nanoseconds kKillPatience = std::chrono::seconds(2);
  // Who comes so late to the end of its patience had no CPU itself, and the cell had none either:
  // it is given the time once more.
  static constexpr sys::Nanoseconds kLate = std::chrono::milliseconds(200);
  // Pid 1 wipes the scratch within this after the last process has ended.
  static constexpr sys::Nanoseconds kWipePatience = std::chrono::seconds(30);
  // The job's processes are looked up this long before the wall deadline, so that nothing is left
  // to do at the deadline but to kill them. Cells that began together look at different times: each
  // of kSpread looks a millisecond before the one with the number below its own.
  static constexpr sys::Nanoseconds kForesight = std::chrono::milliseconds(4);
  static constexpr uint64_t kSpread = 16;
  // The next look after a wall deadline at which no process was left.
  static constexpr sys::Nanoseconds kLookAgain = std::chrono::milliseconds(5);
  // The watch looks this often at most, and this often at least, however long a look takes.
  static constexpr sys::Nanoseconds kWatch = std::chrono::milliseconds(10);
  static constexpr sys::Nanoseconds kWatchSlowest = std::chrono::milliseconds(200);
  // After a look at the job that took more CPU time than this, the job's CPU time is read.
  static constexpr sys::Nanoseconds kDearLook = std::chrono::milliseconds(1);
  // Time for which the job was ready to run and had no CPU is not its own: the wall deadline comes
  // so much later, up to so many times the limit.
  static constexpr int kMostStretch = 100;
  // The kernel counts what a running thread has run when it stops or at a tick (CONFIG_HZ), which
  // are 10 ms apart at most: one that has run for no time in this one waits.
  static constexpr sys::Nanoseconds kSurelyCounted = std::chrono::milliseconds(12);
  // The look before the deadline is kForesight and kSpread before it; a later one is kSurelyCounted
  // behind the one before.
  static constexpr sys::Nanoseconds kNear = std::chrono::milliseconds(25);
  // What slows the machine is read once so long after a job's begin: most jobs have ended.
  static constexpr sys::Nanoseconds kBearings = std::chrono::milliseconds(20);
  // A job that has waited less until its deadline is taken for one on an idle machine, unless more
  // threads are ready than there are CPUs: it may have slept until now.
  static constexpr sys::Nanoseconds kBusy = std::chrono::milliseconds(10);

  struct Terms {
    sys::Nanoseconds wall{}, cpu{};  // the limits
    uint64_t cell = 0;               // the number of its cell
    bool makes_processes = false;    // it may; see LateStart
    bool is_watched = false;         // no kernel counter holds its memory or its files
    bool may_stand_back = false;     // see Standing
  };

  // In the order in which they count where several are due: the limit of CPU time comes before that
  // of wall time.
  enum class Due : uint8_t {
    kNothing,
    kCpu,        // read its CPU time, and call used_up()
    kAim,        // look up its processes, and call aimed()
    kWall,       // kill it, or call all_ended()
    kAttention,  // watch its output from now on
    kPatience,   // destroy its cell
    kWatch,      // measure its memory and files, and call watched()
    kStanding,   // read its CPU time, and call stands_back()
    kBearings,   // read what slows the machine, for comparison at the wall deadline
  };

  // ---- the states of a run: sent, forked, held, released, over

  // A job's order is about to be sent. Everything of the run before is forgotten.
  void order(const Terms& terms, sys::Nanoseconds now);
  // The order was sent: the time of the job counts from `now`.
  void begin(sys::Nanoseconds now);
  // Pid 1 is about to fork the job. True once for each run: its time begins anew, by begin().
  bool forks();
  // No process of the job is left, and what it left is read before pid 1 wipes it: no deadline
  // holds any more.
  void hold();
  // Pid 1 may wipe. It has kWipePatience for it.
  void release(sys::Nanoseconds now);
  // Pid 1 has said that all is done, or is gone.
  void end() { phase_ = Phase::kOver; }

  bool may_hold() const { return phase_ < Phase::kHeld; }  // it says so once
  // The job has been killed, or is over: nothing is left that could be killed.
  bool is_doomed() const { return killed_ || phase_ == Phase::kOver; }
  // A finding of the watch still matters.
  bool heeds_watch() const { return !killed_ && phase_ < Phase::kHeld; }

  // The job was killed, and its cell has kKillPatience to become empty.
  void kill(sys::Nanoseconds now);
  // From a kill on, the job needs the CPU once more.
  void stand_no_more() { due_at(Due::kStanding) = kNever; }
  // The effect of a caller's wish to withdraw the job.
  enum class Cancel : uint8_t {
    kTooLate,
    kNote,  // nobody is left to be killed, and its files are being read
    kKill,
  };
  Cancel cancel() const;

  // ---- deadlines

  // When the timer has to fire next; kNever if nothing will be due.
  sys::Nanoseconds next() const;
  // The first that is due behind `last`, and is so no more. Once through all of them is one turn of
  // the timer: what becomes due within it has to wait for the next one.
  Due next_due(sys::Nanoseconds now, Due last = Due::kNothing);

  // The job's processes have used so much CPU time. All that the job answers for, if it is no less
  // than its limit: it has to be killed.
  std::optional<sys::Nanoseconds> used_up(sys::Nanoseconds used);
  // Otherwise: the next look is due when the rest could be used up on so many CPUs.
  void read_cpu_again(sys::Nanoseconds now, sys::Nanoseconds used, unsigned cpus);
  // A look at the job took so much CPU time of ours, which counts as the job's. True: its CPU time
  // has to be read now.
  bool looked(sys::Nanoseconds cost);
  // The time for which the machine kept the job from going on: never more than that for which none
  // of its own threads had the CPU. In a conversation each side waits for the other, too.
  static sys::Nanoseconds credit(sys::Nanoseconds elapsed, const Waiting& own,
                                 const Waiting& other = {});
  // Shortly before the wall deadline, the oldest living process of the job was there since
  // `oldest`, if there was one (see LateStart), and the job had waited.
  void aimed(sys::Nanoseconds now, std::optional<sys::Nanoseconds> oldest, const Waiting& own,
             const Waiting& other = {});
  // The wall deadline is behind `now`, if it was due; a look may have moved it.
  bool is_put_off(sys::Nanoseconds now) const {
    const sys::Nanoseconds at = due_at_[static_cast<size_t>(Due::kWall)];
    return at > now && at != kNever;
  }
  // The same at the wall deadline. True: it is put off.
  bool has_waited(sys::Nanoseconds now, const Waiting& own, const Waiting& other = {});
  // Two looks at a job that is ready to run at the second one.
  struct Looks {
    bool ran = false;  // between them
    sys::Nanoseconds apart{};
    bool is_crowded = false;  // more threads are ready to run on the machine than it has CPUs
  };
  // At the wall deadline the job is ready to run, and has not since the look before: what it waits
  // now, the kernel has not counted yet. Of one that ran between looks more than kNear apart,
  // because who looks had no CPU either, nothing is known of the time since it ran. True: the
  // deadline is put off, on a busy machine.
  bool still_waits(sys::Nanoseconds now, const Looks& looks);
  // At the wall deadline nobody was left to be killed: the program has ended, and what is left to
  // wipe is not its time; or pid 1 has not come to fork it yet. Both are soon over.
  enum class Left : uint8_t {
    kNobody,
    kDead,  // that pid 1 has not reaped: they died before the deadline
  };
  void all_ended(sys::Nanoseconds now, Left left);
  // A look of the watch took so long, and found nothing.
  void watched(sys::Nanoseconds now, sys::Nanoseconds cost);
  // Whether the job stands back from now on; `used` and `share`: see Standing.
  bool stands_back(sys::Nanoseconds now, sys::Nanoseconds used, double share);

  // ---- what is known of the run

  sys::Nanoseconds started_at() const { return started_at_; }
  // The last process has ended by then; kNever if nobody knows.
  sys::Nanoseconds ended_by() const { return ended_by_; }
  sys::Nanoseconds looked_for() const { return looked_for_; }  // CPU time; see looked()
  // Shortly before its wall deadline it had waited for a CPU for a fifth of its wall limit: the
  // machine had none to give.
  bool is_contended() const { return waited_ > terms_.wall / 5; }
  // The wall deadline was well before `now`: who was to look at the job then had no CPU.
  bool is_over_by_far(sys::Nanoseconds now) const {
    return now - started_at_ > terms_.wall + terms_.wall / 4 + kNear + waited_;
  }
  sys::Nanoseconds waited() const { return waited_; }
  // How much later than the limit the wall deadline was in the end: by what it had waited, and
  // until what it waited then had to be counted.
  sys::Nanoseconds deadline_moved() const;

 private:
  enum class Phase : uint8_t { kSent, kForked, kHeld, kReleased, kOver };
  static constexpr size_t kDues = static_cast<size_t>(Due::kBearings) + 1;

  sys::Nanoseconds& due_at(Due due) { return due_at_[static_cast<size_t>(due)]; }
  void begin_wall_time(sys::Nanoseconds at);
  void set_deadline();

  Terms terms_;
  Phase phase_ = Phase::kOver;
  bool killed_ = false, came_late_ = false;
  std::array<sys::Nanoseconds, kDues> due_at_{};
  sys::Nanoseconds started_at_{}, ended_by_{}, looked_for_{}, waited_{};
  sys::Nanoseconds put_off_to_{};  // by still_waits()
  LateStart late_start_;
  Standing standing_;
};

}  // namespace runtime
