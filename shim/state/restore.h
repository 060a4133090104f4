#pragma once
// Puts the state of a node into a process that was forked from the same template. Runs in the job's
// process, under its filter and with its rights, before its program. Nothing is allocated, and what
// these functions need is on the stack, which is no part of a node.
//
// The memory of a node is a program's, the tables by which libraries find each other's functions
// among it. So it comes last, and from then on until this process has nothing of ours any more,
// there are raw system calls only.

#include "shim/cell/cell.h"

namespace shim::state {

// Maps the node's files, to be put back by the others, and closes them. 0 or errno.
int map_node(const int* files, unsigned count);
// What lies in the scratch, which is empty and the working directory. 0 or errno.
int restore_files();
// A number that none of the node's descriptors has; at least 3.
int free_descriptor();
// Opens the descriptors, when all others above 2 are closed but one with a free number, and sets
// the umask. 0 or errno.
int restore_descriptors();
// Areas, pages and brk, the working directory, modes and times of files, blocked signals; unmaps
// the node. `tid_address` is where the C library keeps the thread's id; may be null. Then it writes
// `done` to `report` and closes that; or, where something fails, `failure`, and ends the process.
struct LastWord {
  int report = -1;
  const SetupReport* failure = nullptr;
  SetupReport* done = nullptr;  // its time is set
  int status = 0;               // to end with
  bool tells = false;           // call userfaultfd(2) before that (JobOrder::asks_again)
  // Where it stands by: AnswerHeader::nonce, which is set to `nonce` when all else is done. Then it
  // stops, and nothing of its program has run before it goes on.
  uint64_t* stands_by = nullptr;
  uint64_t nonce = 0;
};
void restore_memory(int* tid_address, const LastWord& word);

}  // namespace shim::state
