#pragma once
// The kernel and the processor keep some of a process's state, so that no memory has it: handlers
// of signals and the stack for them, how floating point rounds, name, timer slack.

namespace shim {

// At the end of a step: noted in memory, which is a part of its node.
void note_process_state();
// At the begin of a step that goes on from a node, whose memory is there.
void take_up_process_state();

}  // namespace shim
