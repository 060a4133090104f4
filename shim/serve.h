#pragma once
// Entry of the fork server inside the interpreter's process: bootstrap.py calls `_zygo.serve(fd,
// heap)`, which turns the process into a template zygote and never returns.

struct _object;
using PyObject = _object;

namespace shim {

PyObject* serve(PyObject* self, PyObject* args);

// Threads of this process as the kernel counts them (through kProcFd), or 0 when it cannot be told.
int native_thread_count();

}  // namespace shim
