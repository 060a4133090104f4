#pragma once
// The duties of pid 1, which a service in a container may be: a process that passes signals on and
// reaps whatever orphans come its way, with zygo as its child. Before threads are started.

#include "sandbox/sys/result.h"

namespace cli {

// Returns in the child, or where this process is not pid 1. Pid 1 itself ends when the child does,
// with its exit code.
sys::Result<void> leave_pid_1();

}  // namespace cli
