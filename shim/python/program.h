#pragma once
// What runs a Python program inside a job's process: decodes the request, runs the program as
// `__main__`, and leaves its answer in the region shared with the cell. Callers: serve() in the
// template (the first two), run_job in the job (the last). One thread, GIL held, never a Finalize.
//
// What the program sees: a script is `__main__` in every respect. In call mode its module is
// registered as "__main__" and as "program" and its `__name__` is "program", so that pickle and
// dataclasses work while an `if __name__ == "__main__":` block does not run. Both are compiled
// under the file name "main.py"; the working directory is the first entry of sys.path.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shim/value_format.h"

namespace shim {

// Once, in the template, before the first fork and before any foreign code of a job: keeps private
// references to all that is needed after a program has run (so that one that patches sys, builtins,
// threading or io changes nothing for us), makes the standard streams anew for pipes, installs the
// audit hook, warms its own paths up, and freezes the heap for the collector.
// False with a Python exception set on failure.
bool prepare_interpreter();

// Once, in the template, after the last line of Python that is the template's own: puts an empty
// thread state in the place of the current one, so that no frame of ours is one `f_back` away from
// a program. The caller must never return into Python. False: no memory.
[[nodiscard]] bool leave_bootstrap();

// In the cell, before each job: gives the global random generators another state. Writes to memory,
// runs no Python: the cell's own copy of two pages costs less than one copy for each job.
void reseed_in_memory();

struct AnswerSpace {
  AnswerRegion* region;
  size_t capacity;  // bytes of payload behind it
  uint64_t nonce;
  const char* home = nullptr;  // the scratch, where it is not /tmp; becomes HOME and TMPDIR
};

// In a trial child of the template: called last, when all is said and done.
void set_before_exit(void (*hook)());

// Exit status when the request itself cannot be read: a bug of the sender, never the program's
// doing. The answer stays kNothing.
inline constexpr int kBrokenRequest = 70;

// In the job's process, confined, the working directory its scratch, descriptors 0 to 2 its own.
// Exits with the program's code; 1 after an uncaught exception; 0 after a value or an invalid one.
[[noreturn]] void run_program(std::string_view request, AnswerSpace space);

}  // namespace shim
