#pragma once
// The audit hook: notes in the answer's region the last operation of the program that a sandbox may
// refuse, and its line. In the template, and until a program starts, it does nothing. It never
// raises.

#include "shim/value_format.h"

namespace shim {

// Also tells what sqlite_files.h wants to know.
void start_audit(AnswerRegion* region, bool goes_on);
void stop_audit();

// Whether the program opened any file for writing: then its files are flushed at its end.
bool opened_for_writing();

}  // namespace shim
