#pragma once
// A process that was a step and stays, stopped, to go on as the next one: what the first process of
// its cell does with it. By the time that it is reaped it has been several.

#include <sys/types.h>

#include <cstdint>

#include "shim/cell/cell.h"

namespace shim {

struct Resident {
  pid_t process = -1;
  int64_t cpu_before_ns = 0;       // its CPU time before the last step ...
  int64_t cpu_of_children_ns = 0;  // ... and that of children that it had waited for
};

void begin_answer(const Cell& cell);
// A step is over. `done` says what is known of it as long as its process lives.
void note_stay(const Cell& cell, const Resident& resident, int64_t rested_at_ns, JobDone& done);
// The process goes on as the next step. It finds its streams, and the numbers of new processes, as
// one would that has just been forked. One that was killed meanwhile never begins: `done` says so.
void go_on(const Cell& cell, const JobOrder& job, Resident& resident, JobDone& done);

}  // namespace shim
