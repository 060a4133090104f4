#include "runtime/host/host_pressure.h"

#include <cerrno>

namespace runtime {

Evidence::Fault outer_memory_is_full() {
  return {
      shim::Step::kMemory, ENOMEM,
      "the memory that zygo itself was given is used up (fewer workers, lower memory limits or a "
      "larger container)"};
}

Evidence::Fault outer_processes_are_used_up() {
  return {shim::Step::kProcesses, EAGAIN,
          "the processes that zygo itself may have are used up (fewer workers, or a higher limit "
          "of processes around zygo)"};
}

Evidence::Fault held_too_much() {
  return {shim::Step::kHold, EDQUOT,
          "more than may be held for one client of what its jobs have written and it has not taken "
          "(fewer jobs at once, lower output limits, or a higher --held)"};
}

}  // namespace runtime
