// The program of a job (shim/program.h) where the template is zygo-exec: a program of the image, or
// one that came with the job, in this process's place.

#include "shim/program.h"

#include "sandbox/rlimits.h"
#include "shim/exec/execute.h"
#include "shim/heap/hot_pages.h"

namespace shim {

// A new program brings its own memory, and seeds itself.
void copy_hot_pages(Habit) {}
void reseed_in_memory() {}

bool executes_programs() { return true; }
bool runs_in_place() { return false; }
bool answers_in_memory() { return false; }
size_t most_warm_pages() { return 0; }

void run_program(std::string_view bytes, AnswerSpace space) {
  const Request request = require_program(bytes);
  prepare_scratch(request, space);
  if (space.limits) {
    if (const int refused = sandbox::apply_rlimits(*space.limits)) space.cannot_execute(refused);
  }
  execute(request, space);
}

}  // namespace shim
