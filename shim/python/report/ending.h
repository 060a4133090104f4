#pragma once
// How a program ends: what CPython does between the last line of a program and its exit, and then
// the answer, last of all. Runs in the job's process; code of the program (atexit, threads, hooks,
// patched streams) may run on the way and may end the process, and then there is no answer.

#include <string_view>

#include "shim/python/program.h"
#include "shim/python/report/exception.h"

namespace shim {

struct Answer {
  AnswerSpace space;
  int owner;  // the process that may answer: not one that the program forked

  char* payload() const { return reinterpret_cast<char*>(space.region + 1); }
};

struct Ending {
  AnswerKind kind = AnswerKind::kFinished;
  size_t size = 0;  // of the payload, which is in place
  int code = 0;
};

// The exception that is set, in script mode: SystemExit is a normal end, any other goes to stderr
// or the program's own sys.excepthook, and becomes a testimony.
Ending end_script(const Answer& answer, Stage stage, std::string_view source);
// The same in call mode, where an exception is the result: nothing is printed.
Ending end_calls(const Answer& answer, Stage stage, std::string_view source);

// Joins threads, runs atexit callbacks, flushes, answers, exits.
[[noreturn]] void finish(const Answer& answer, const Ending& ending);
// The end of a step: joins threads, flushes, answers, and stops, so that the process can be looked
// at. Returns when it is to go on as the next step.
void rest(const Answer& answer, const Ending& ending);

}  // namespace shim
