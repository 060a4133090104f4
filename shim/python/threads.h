#pragma once
// The threads of a program at its end, and at that of a step, after which its process rests.

#include "shim/python/ref.h"

namespace shim {

bool has_grown(PyObject* list, Py_ssize_t length);

// False: no thread runs and nobody asked to be called, so there is nothing that waiting would do.
bool threads_need_joining();

// From here on: those that end_threads() ends. There is no other thread now.
void follow_threads();

// Joins those that a program's end waits for, and returns when the kernel has none of them any
// more: Python says that a thread has ended before its last instruction, and what is left of it
// would rest with the process and be found there.
void end_threads();

}  // namespace shim
