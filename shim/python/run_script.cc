#include "shim/python/kept.h"
#include "shim/python/load.h"

namespace shim {
namespace {

const char* name_of(Mode mode) { return mode == Mode::kScript ? "__main__" : "program"; }

// So that tracebacks, warnings and inspect find the source although there is no such file:
// linecache calls the one member of a tuple of one when a line is asked for.
void offer_source(PyObject* text) {
  Ref source_getter = attribute(text, "__str__");
  Ref entry = source_getter ? Ref::steal(PyTuple_Pack(1, source_getter.get())) : Ref();
  if (entry) PyObject_SetItem(kept().linecache, kept().file_name, entry.get());
  PyErr_Clear();
}

}  // namespace

Ref compile_program(std::string_view source) {
  Ref text = decode_text(source);
  if (!text) return {};
  offer_source(text.get());
  Ref no_flags = Ref::steal(PyLong_FromLong(0));
  // The last argument: nothing of the caller's own __future__ is inherited.
  return call(kept().compile, text.get(), kept().file_name, kept().exec, no_flags.get(), Py_True);
}

Ref make_module(Mode mode) {
  Ref module = Ref::steal(PyModule_New(name_of(mode)));
  PyObject* names = module ? PyModule_GetDict(module.get()) : nullptr;
  Ref annotations = Ref::steal(PyDict_New());
  if (!names || !annotations) return {};
  const bool fine = PyDict_SetItemString(names, "__file__", kept().file_name) == 0 &&
                    PyDict_SetItemString(names, "__cached__", Py_None) == 0 &&
                    PyDict_SetItemString(names, "__annotations__", annotations.get()) == 0 &&
                    PyDict_SetItemString(names, "__builtins__", kept().builtins) == 0;
  return fine ? std::move(module) : Ref();
}

bool register_module(PyObject* module, Mode mode) {
  PyObject* modules = PyImport_GetModuleDict();
  return PyDict_SetItemString(modules, "__main__", module) == 0 &&
         PyDict_SetItemString(modules, name_of(mode), module) == 0;
}

Ref execute(PyObject* code, PyObject* module) {
  PyObject* names = PyModule_GetDict(module);
  return Ref::steal(PyEval_EvalCode(code, names, names));
}

Ending run_script(const Request& request, const Answer& answer) {
  Ref module = make_module(Mode::kScript);
  Ref code = module && register_module(module.get(), Mode::kScript)
                 ? compile_program(request.source)
                 : Ref();
  if (!code) return end_script(answer, Stage::kCompile, request.source);
  if (!execute(code.get(), module.get())) {
    return end_script(answer, Stage::kRun, request.source);
  }
  // The module outlives this frame in sys.modules, unless the program took it out: then its objects
  // must not die before the threads that use them.
  (void)module.release();
  return {AnswerKind::kFinished, 0, 0};
}

}  // namespace shim
