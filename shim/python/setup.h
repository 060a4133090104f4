#pragma once
// What a job's process needs before its program starts, and what the template keeps for it.

#include "shim/python/request.h"

namespace shim {

// In the template.
bool keep_signals();
bool keep_reserve();

// Gives the reserved address space back, so that an answer can be made where memory is exhausted.
void release_reserve();

// In the job, in this order; each is false with an exception set.
void restore_signals();
bool reseed();          // generators.cc
bool refresh_thread();  // the main thread's native_id
bool place_files(const Items& files);
bool set_surroundings(const Request& request);  // environment, sys.argv, sys.path

}  // namespace shim
