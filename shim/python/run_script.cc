#include <string>

#include "shim/python/interpreter_refs.h"
#include "shim/python/load.h"

namespace shim {
namespace {

// Held for ever: a program may take its module out of sys.modules, and its objects must not die
// before the threads that use them.
PyObject* script_module = nullptr;
PyObject* call_module = nullptr;

const char* name_of(Mode mode) { return mode == Mode::kCall ? "program" : "__main__"; }

// So that tracebacks, warnings and inspect find the source although there is no such file:
// linecache calls the one member of a tuple of one when a line is asked for.
void offer_source(PyObject* text) {
  Ref source_getter = attribute(text, "__str__");
  Ref entry = source_getter ? Ref::steal(PyTuple_Pack(1, source_getter.get())) : Ref();
  if (entry) PyObject_SetItem(refs().linecache, refs().file_name, entry.get());
  PyErr_Clear();
}

// CPython says what is wrong with the bytes of a file.
void raise_for_bytes(std::string_view source) {
  PyErr_Clear();
  Ref bytes =
      Ref::steal(PyBytes_FromStringAndSize(source.data(), static_cast<Py_ssize_t>(source.size())));
  Ref no_flags = Ref::steal(PyLong_FromLong(0));
  if (!bytes || !no_flags) return;
  Ref code =
      call(refs().compile, bytes.get(), refs().file_name, refs().exec, no_flags.get(), Py_True);
  if (code) PyErr_SetString(PyExc_SyntaxError, "the source is not in the encoding that it names");
}

}  // namespace

bool decode_source(Request& request) {
  if (request.encoding.empty()) return true;
  const std::string encoding(request.encoding);
  Ref text = Ref::steal(PyUnicode_Decode(request.source.data(),
                                         static_cast<Py_ssize_t>(request.source.size()),
                                         encoding.c_str(), nullptr));
  Py_ssize_t size = 0;
  const char* utf8 = text ? PyUnicode_AsUTF8AndSize(text.get(), &size) : nullptr;
  if (!utf8) {
    raise_for_bytes(request.source);
    request.source = {};
    return false;
  }
  request.source = {utf8, static_cast<size_t>(size)};
  (void)text.release();
  return true;
}

Ref compile_program(std::string_view source) { return parse_program(source, 0); }

void offer_program(std::string_view source) {
  if (Ref text = decode_text(source); text) offer_source(text.get());
  PyErr_Clear();
}

Ref parse_program(std::string_view source, long flags) {
  Ref text = decode_text(source);
  if (!text) return {};
  offer_source(text.get());
  Ref how = Ref::steal(PyLong_FromLong(flags));
  if (!how) return {};
  // The last argument: nothing of the caller's own __future__ is inherited.
  return call(refs().compile, text.get(), refs().file_name, refs().exec, how.get(), Py_True);
}

Ref make_module(Mode mode) {
  Ref module = Ref::steal(PyModule_New(name_of(mode)));
  PyObject* names = module ? PyModule_GetDict(module.get()) : nullptr;
  Ref annotations = Ref::steal(PyDict_New());
  if (!names || !annotations) return {};
  const bool fine = PyDict_SetItemString(names, "__file__", refs().file_name) == 0 &&
                    PyDict_SetItemString(names, "__cached__", Py_None) == 0 &&
                    PyDict_SetItemString(names, "__annotations__", annotations.get()) == 0 &&
                    PyDict_SetItemString(names, "__builtins__", refs().builtins) == 0;
  return fine ? std::move(module) : Ref();
}

bool keep_modules() {
  script_module = make_module(Mode::kScript).release();
  call_module = make_module(Mode::kCall).release();
  return script_module && call_module &&
         PyDict_SetItemString(PyImport_GetModuleDict(), "__main__", script_module) == 0;
}

PyObject* module_of_job(Mode mode) {
  if (mode != Mode::kCall) return script_module;
  PyObject* modules = PyImport_GetModuleDict();
  const bool fine = PyDict_SetItemString(modules, "__main__", call_module) == 0 &&
                    PyDict_SetItemString(modules, name_of(mode), call_module) == 0;
  return fine ? call_module : nullptr;
}

Ref execute(PyObject* code, PyObject* module) {
  PyObject* names = PyModule_GetDict(module);
  return Ref::steal(PyEval_EvalCode(code, names, names));
}

Ending run_script(const Request& request, const Answer& answer) {
  Ref code = compile_program(request.source);
  if (!code) return end_script(answer, Stage::kCompile, request.source);
  if (!execute(code.get(), module_of_job(Mode::kScript))) {
    return end_script(answer, Stage::kRun, request.source);
  }
  return {AnswerKind::kFinished, 0, 0};
}

}  // namespace shim
