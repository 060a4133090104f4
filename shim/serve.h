#pragma once
// The fork server of a template zygote.

namespace shim {

// Forks the cells that have been ordered by now, and returns. Only before serve_cells().
void serve_early_orders(int control);

// Tells the daemon that the template is ready, and forks cells on order until the daemon hangs up.
// The process has one thread and is as every cell is to find it.
[[noreturn]] void serve_cells(int control);

// Threads of this process as the kernel counts them (through kProcFd), or 0 when it cannot be told.
int native_thread_count();

}  // namespace shim
