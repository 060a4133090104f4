#pragma once
// Makes a node of a process that rests at the end of a step. Runs beside the loop: how long it
// takes is of the program's making.

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/sessions/address_areas.h"
#include "runtime/sessions/going_on.h"
#include "runtime/sessions/node_budget.h"
#include "runtime/sessions/node_file.h"
#include "runtime/sessions/scratch_look.h"
#include "sandbox/rlimits.h"
#include "sandbox/sys/fd.h"

namespace runtime {

// Each step of a cell begins with this of the cell's first process.
struct Beginning {
  ProcessTexts texts;
  std::vector<AddressArea> areas;
};

struct CaptureOrder {
  int forked_from = -1;  // the cell's first process ...
  sys::OwnedFd parent;   // ... and its pidfd
  // That process is looked at for the first of its steps, and again after one that was to go on and
  // may not. It may have more memory later, which then counts as the step's.
  std::shared_ptr<std::optional<Beginning>> beginning;
  std::function<std::vector<int>()> jobs;  // the step's processes
  sys::OwnedFd root, scratch;              // directories
  std::array<FileNumber, 3> streams;       // that the step was given as its first descriptors
  uint64_t most_descriptors = 0;           // that it may have
  uint64_t request_bytes = 0;              // of what it was told
  uint64_t end_of_heap = 0;                // brk(2), by the program's own word
  std::optional<sandbox::Rlimits> given;   // to a process that is to go on itself; none: it is not
  std::shared_ptr<const NodeState> from;   // the state that it went on from; null: none
  std::shared_ptr<const sys::OwnedFd> tracking;  // of a process that may go on; null: nothing tells
  bool is_protected = false;  // it tells of all writes since `from` was taken of it
  bool verifies = false;      // compare what has not been written to, all the same
  ScratchBounds bounds;
  NodeRoom room;
};

// How a process rests that may go on itself.
struct RestsAs {
  int pid = 0;
  int64_t switches_voluntary = 0, switches_forced = 0;
  sys::Nanoseconds cpu_of_children{};
  sys::Bytes held;  // of its memory and files: what its node has
};

struct Captured {
  std::shared_ptr<const NodeState> state;  // null: it was not kept ...
  std::string why_not;                     // ... for this reason
  bool may_go_on = false;                  // the process itself
  RestsAs rests_as;                        // then
  bool is_protected = false;               // its writes are told from here on
};

Captured capture(const CaptureOrder& order);
// The process has only been put to the node `from`, and waits for its step: it is looked at, and
// nothing is taken of it.
Captured look_at_standby(const CaptureOrder& order);

}  // namespace runtime
