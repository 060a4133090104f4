#pragma once
// The program's module and code, and the two ways to run them. Runs in the job's process.

#include "shim/python/ending.h"
#include "shim/python/request.h"

namespace shim {

// "main.py" compiled as a script. Null with an exception set.
Ref compile_program(std::string_view source);
// A fresh module, as CPython would make `__main__`, under the mode's `__name__`.
Ref make_module(Mode mode);
// Makes it sys.modules["__main__"], and in call mode "program" too.
bool register_module(PyObject* module, Mode mode);
// Runs compiled code in the module. Null with an exception set.
Ref execute(PyObject* code, PyObject* module);

Ending run_script(const Request& request, const Answer& answer);
Ending run_calls(const Request& request, const Answer& answer);

}  // namespace shim
