#pragma once
// Prepares a job's process for its program, from objects that the template keeps.

#include "shim/python/values/decode.h"

namespace shim {

// In the template.
bool keep_signals();
bool keep_reserve();
// Facts that stay true in most jobs: the thread's id, and the working directory in sys.path.
bool keep_thread_id();
bool keep_path();

// Gives the reserved address space back, so that an answer can be made where memory is exhausted.
void release_reserve();

// In the job, in this order; each is false with an exception set.
void restore_signals();
void reseed_by_job();  // generators.cc: what the cell does before each job, in the job itself
// generators.cc: those that are not seeded, by `seed` (0: one is drawn)
void reseed_unless(bool random_is_seeded, bool numpy_is_seeded, uint64_t seed);
bool reseed();          // generators.cc: those whose state was not found in memory
bool refresh_thread();  // the main thread's native_id
bool place_files(const Items& files);
bool take_buffers_away();  // streams.cc: what the program prints is written at once
bool begin_input_anew();   // streams.cc: nothing is left of what was read ahead before
// Environment and what it says of buffers, sys.argv, sys.path. `home`: see AnswerSpace.
bool set_surroundings(const Request& request, const char* home);
// In a step that goes on from a node: what this step brings beside its source.
bool take_up_surroundings(const Request& request, const char* home);
// In a step: those of the global generators that no step has seeded begin anew; seeding.cc.
void follow_generators(bool goes_on, uint64_t seed);

}  // namespace shim
