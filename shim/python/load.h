#pragma once
// The program's module and code, and the two ways to run them. Runs in the job's process.

#include "shim/python/report/ending.h"
#include "shim/python/values/decode.h"

namespace shim {

// The source of the request becomes UTF-8, whose text is kept for ever. False with an exception
// set, in the words of the interpreter, which is asked where the bytes do not fit their encoding.
bool decode_source(Request& request);
// "main.py" compiled as a script. Null with an exception set.
Ref compile_program(std::string_view source);
// The same with flags of compile(), of which PyCF_ONLY_AST gives a tree.
Ref parse_program(std::string_view source, long flags);
// Tracebacks and the like find its lines.
void offer_program(std::string_view source);
// A fresh module, as CPython would make `__main__`, under the mode's `__name__`.
Ref make_module(Mode mode);
// In the template: makes the modules of both modes; a script's is sys.modules["__main__"] from then
// on.
bool keep_modules();
// In the job: the module for its program, which in call mode becomes sys.modules["__main__"] and
// "program". Null with an exception set.
PyObject* module_of_job(Mode mode);
// Runs compiled code in the module. Null with an exception set.
Ref execute(PyObject* code, PyObject* module);

Ending run_script(const Request& request, const Answer& answer);
Ending run_calls(const Request& request, const Answer& answer);  // a step's, too
Ending run_step(const Request& request, const Answer& answer);
Ending run_shell(const Request& request, const Answer& answer);

}  // namespace shim
