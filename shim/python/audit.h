#pragma once
// The audit hook: notes in the answer's region what the program was doing when it last did
// something that a sandbox may refuse, and at which line. In the template, and until a program
// starts, it does nothing. It never raises.

#include "shim/value_format.h"

namespace shim {

void start_audit(AnswerRegion* region);
void stop_audit();

// Whether the program opened any file for writing: then its files are flushed at its end.
bool opened_for_writing();

}  // namespace shim
