#pragma once
// Names calls that an outer filter refuses. A container runtime's own filter (Docker's default
// profile) answers some calls with an errno, and an errno outranks our notification (seccomp(2)):
// the daemon would never hear of the attempt. For those calls our filter says TRAP, which outranks
// both; the handler here reports the call to the daemon, and the program sees EPERM and goes on. A
// program that takes the handler apart hides only attempts that fail all the same; one that forges
// a report accuses itself.

namespace shim {

// In the job's process, before the program. 0 or an errno.
int report_trapped_calls();

}  // namespace shim
