#pragma once
// The holder's side: a process that owns the address space which jobs borrow, and does nothing
// else.

#include "shim/borrow/vault.h"

namespace shim::borrow {

// Tells pid 1 that it is parked, and then carries out the vault's program whenever it is woken, for
// ever; ends its process when a call fails, but for the start of a job: then it is parked again.
// Returns only in a job, which is a child of pid 1 with this address space. From the first
// instruction on the holder touches no writable memory but the pages that the program names, and
// uses no stack: its code is sealed, its state is in registers, and so it does not matter what a
// job has made of the memory meanwhile.
void park(const void* vault, Desk* desk, int wake_fd, int parked_fd);

}  // namespace shim::borrow
