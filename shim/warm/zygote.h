#pragma once
// An interpreter of another language as a zygote. It runs its usual command line; when it has
// started and asks for its script, hooks.cc calls us in its place. In the template this serves
// cells and never returns; in a job's process it does: confined, the script in the working
// directory, and the interpreter goes on to read it as it would have. So a program has the frames,
// names and endings that it has from the command line, because they are.

#include "shim/heap/image.h"

namespace shim {

// Whether the process as it is now can be forked: one thread, and no descriptor but ours, `script`
// (-1: none), and those by which an interpreter wakes itself, which it makes anew after a fork.
bool can_be_forked(int script);

// Returns in a job's process only. Called on the interpreter's own stack, which cannot be moved.
void serve_and_return_in_jobs(HeapMode heap);

// Whether this process has borrowed its memory, so that areas of it are sealed.
bool is_borrower();

// In the template: zygo-exec takes this process's place. Every job is then executed, as it would be
// without us.
[[noreturn]] void serve_plainly(const char* zygo_exec);

}  // namespace shim
