#pragma once
// How processes are ended. SIGKILL is acted upon by the one who is killed, and for that it needs
// the CPU once more: in the lowest class, beside others that compute, it waits for many ticks.

#include <sys/resource.h>

#include <functional>
#include <vector>

#include "runtime/loop/loop.h"
#include "sandbox/sys/fd.h"

namespace runtime {

// A process that is held by its descriptor: its number cannot become another's.
struct HeldProcess {
  int pid;
  sys::OwnedFd pidfd;
};
// Holds those of the processes that are still below `root`.
std::vector<HeldProcess> hold_processes(int root, const std::vector<int>& processes);
bool has_ended(const HeldProcess& process);  // dead, though perhaps not reaped

// Tells whether this thread has been on its CPU without a break since this was made, so that
// whoever may use no other has not been run.
class Stay {
 public:
  bool unbroken() const { return switches_ == switches(); }

 private:
  static long switches();
  long switches_ = switches();
};

// The dying of one loop. All that is due is killed first: whoever is raised takes the CPU from
// those who still have to be killed. So end() sends signals and does nothing else; what takes
// longer comes when the loop has done everything else that was due in its turn.
class Terminator {
 public:
  explicit Terminator(Loop& loop);

  // Kills those that have not ended; false: none was left. They run before others from the end of
  // the turn on, as far as we may (CAP_SYS_NICE).
  bool end(std::vector<HeldProcess> processes);
  // Behind all kills of this turn, before anybody is raised.
  void afterwards(std::function<void()> work);
  bool done() const { return dying_.empty() && work_.empty(); }

 private:
  void go_on();
  void raise();

  Afterwards behind_;
  std::vector<std::function<void()>> work_;
  std::vector<HeldProcess> dying_;
  bool crowd_ = false;  // of the dying: more than the class of deadlines has room for
  Stay stay_;           // since before the first of the dying was killed
};

}  // namespace runtime
