#pragma once
// Executes a program of the image, or one that came with the job, in the job's own process: for all
// requests to zygo-exec, and for those that a warm interpreter does not run itself.

#include <string_view>

#include "shim/program.h"
#include "shim/request.h"

namespace shim {

// The request of a program: mode kExec or kWarm. Exits where it is broken: a bug of the sender.
Request require_program(std::string_view bytes);

// Writes the request's files and enters its directory. A failure is the program's own where its
// scratch is too small, and reported otherwise; neither returns.
void prepare_scratch(const Request& request, const AnswerSpace& space);

// The program's environment; never freed.
char** lasting_environment(const Request& request, const char* home);

[[noreturn]] void execute(const Request& request, const AnswerSpace& space);

}  // namespace shim
