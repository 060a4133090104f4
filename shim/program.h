#pragma once
// The one part that differs between zygotes: how a job's process becomes its program. shim/python
// runs a Python program in this process; shim/exec executes a program of the image in its place;
// shim/warm runs a program of another interpreter. Each zygote links one of them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "shim/next_step.h"
#include "shim/value_format.h"

namespace sandbox {
struct ProgramRlimits;
}

namespace shim {

// In the cell, before each job: gives the global random generators another state. Writes to memory,
// runs no Python: the cell's own copy of two pages costs less than one copy for each job.
void reseed_in_memory();

// Whether a job's process executes another program: its descriptors are then closed by execve, not
// before, so that a failure can still be reported.
bool executes_programs();

// Whether a job can run in this very process, for the daemon to know: requests of mode kWarm do.
bool runs_in_place();

// Whether a program's process writes its answer to the memory that it shares with pid 1. Where it
// does not, that memory is none of the program's: a holder gives it up before it borrows anything.
bool answers_in_memory();

// So many pages, at most, a holder keeps warm: kMostWarmPages in Python's templates. Others write
// to more in each job, because they take all of themselves apart when they end (PHP to 600).
size_t most_warm_pages();
inline constexpr size_t kMostWarmPagesOfOthers = 720;

struct AnswerSpace {
  AnswerRegion* region = nullptr;  // null: this process does not have it
  size_t capacity = 0;             // bytes of payload behind it
  uint64_t nonce = 0;
  const char* home = nullptr;  // the scratch, where it is not /tmp; becomes HOME and TMPDIR
  int program_fd = -1;         // exec: the program itself, unless the request names one
  const sandbox::ProgramRlimits* limits = nullptr;  // exec: of the program alone
  void (*cannot_execute)(int error) = nullptr;      // exec: reports why; never returns
  size_t region_bytes = 0;                          // of the whole mapping at `region`
  bool request_is_mapped = false;                   // from a file; not in a copy of the job's own
  bool goes_on = false;                             // a step, from the node that was put back
  bool stays = false;                               // ... or left there by its own process
  uint64_t seed = 0;                                // of a step's chance; 0: to be drawn
};

// The text that tells the process its next step; `space` is then for the answer. Nonce 0: nobody
// has told it.
inline std::string_view take_next_step(AnswerSpace& space) {
  NextStep& next = *next_step_of(space.region, space.region_bytes);
  space.nonce = std::exchange(next.nonce, 0);
  space.seed = next.seed;
  space.capacity = std::min<size_t>(next.value_bytes, most_answer_bytes(space.region_bytes));
  space.goes_on = true;
  return next.told();
}

// Exit status when the request itself cannot be read: a bug of the sender, never the program's
// doing. The answer stays kNothing.
inline constexpr int kBrokenRequest = 70;

// In the job's process, confined, the working directory its scratch, descriptors 0 to 2 its own.
// Exits with the program's code; 1 after an uncaught exception; 0 after a value or an invalid one.
[[noreturn]] void run_program(std::string_view request, AnswerSpace space);

}  // namespace shim
