#pragma once
// Core scheduling: the hardware threads of one core run only threads of one cookie at a time, so
// the resources that they share (caches, ports, predictors) reveal no work of another cookie (Linux
// 5.14, CONFIG_SCHED_CORE; Documentation/admin-guide/hw-vuln/core-scheduling.rst).

namespace sandbox {

// Gives the calling thread, and all that it will fork, a cookie that nobody else has. 0 or an
// errno: ENODEV where no two hardware threads share a core, EINVAL where the kernel has it not.
// Async-signal-safe.
int make_core_cookie();

// The cookie of the calling thread as a number that only equality means something of; 0: none, or
// the kernel does not tell.
unsigned long long core_cookie();

}  // namespace sandbox
