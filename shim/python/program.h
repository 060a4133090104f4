#pragma once
// The program of a job (shim/program.h) where the template is a Python interpreter: run_program
// decodes the request, runs the program as `__main__`, and leaves its answer in the region shared
// with the cell. Callers: serve() in the template. One thread, GIL held, never a Finalize.
//
// The program's view: a script is `__main__` in every respect. In call mode its module is
// registered as "__main__" and as "program" and its `__name__` is "program", so that pickle and
// dataclasses work while an `if __name__ == "__main__":` block does not run. Both are compiled
// under the file name "main.py"; the working directory is the first entry of sys.path.

#include <string>
#include <vector>

#include "shim/program.h"

namespace shim {

// Once, in the template, before the first fork and before any foreign code of a job: keeps private
// references to all that is needed after a program has run (so that one that patches sys, builtins,
// threading or io changes nothing for us), makes the standard streams anew for pipes, installs the
// audit hook, warms its own paths up, and freezes the heap for the collector.
// False with a Python exception set on failure.
bool prepare_interpreter();

// Once, in the template, after the last line of Python that is the template's own: puts an empty
// thread state in the place of the current one, so that no frame of ours is one `f_back` away from
// a program. The caller must never return into Python. False: no memory.
[[nodiscard]] bool leave_bootstrap();

// In a trial child of the template: the hook is called last, before exit.
void set_before_exit(void (*hook)());

// In the template: the sources that its setup code lists as `__trials__`, programs of call mode
// that jobs of this template are like, each with a function `f` of one argument. Items that are no
// text are skipped.
std::vector<std::string> trials_of_setup();

}  // namespace shim
