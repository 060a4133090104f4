#pragma once
// The holder as a process: a child of pid 1 that gives up all that could change its memory, or be
// changed through it, seals its areas, and parks. Nothing here runs in pid 1.

#include <sys/types.h>

#include "shim/borrow/vault.h"

namespace shim::borrow {

struct HolderPlan {
  const Cell& cell;
  char* vault;  // where pid 1 has it; the holder has it there, too
  int vault_file;
  Desk* desk;
  bool tracks;  // the kernel notices writes to its memory, and so can say where they were
  pid_t parent;
  void (*confine)(void* context);  // drops the holder's rights and loads the filter of its jobs
  void* context;
};

// Never returns: in the holder it parks, and each job that the parked holder starts runs from here
// to its end.
[[noreturn]] void be_holder(const HolderPlan& plan);

// Puts `fd` at `number` and closes the other one. False with errno, also when there is none.
bool place(int fd, int number);

}  // namespace shim::borrow
