// The needs of a program's end, and the parts of it that most programs can leave out: Python code
// that finds nothing to do still costs a copied page for every object that it touches.

#include "shim/python/interpreter_refs.h"

namespace shim {
namespace {

bool keep_file_type(PyTypeObject*& type, PyObject*& flush, PyObject* io, const char* name) {
  PyObject* found = PyObject_GetAttrString(io, name);
  type = reinterpret_cast<PyTypeObject*>(found);
  return keep(flush, found, "flush");
}

bool keep_files(InterpreterRefs& k) {
  Ref io = Ref::steal(PyImport_ImportModule("io"));
  Ref gc = Ref::steal(PyImport_ImportModule("gc"));
  return io && gc && keep(k.gc_objects, gc.get(), "get_objects") &&
         keep_file_type(k.text_type, k.text_flush, io.get(), "TextIOWrapper") &&
         keep_file_type(k.writer_type, k.writer_flush, io.get(), "BufferedWriter") &&
         keep_file_type(k.random_file_type, k.random_flush, io.get(), "BufferedRandom");
}

bool keep_threading(InterpreterRefs& k) {
  Ref threading = Ref::steal(PyImport_ImportModule("threading"));
  Ref thread = Ref::steal(PyImport_ImportModule("_thread"));
  if (!threading || !thread) return false;
  if (keep(k.threading_callbacks, threading.get(), "_threading_atexits")) {
    k.threading_callback_count = PyObject_Size(k.threading_callbacks);
  } else {
    PyErr_Clear();
  }
  return keep(k.main_thread, threading.get(), "_main_thread") &&
         keep(k.count_threads, thread.get(), "_count") &&
         keep(k.threading_shutdown, threading.get(), "_shutdown");
}

// logging registers its shutdown when it is imported, and so runs it last. We do the same, but only
// where the program made a handler.
bool keep_logging(InterpreterRefs& k, PyObject* atexit) {
  PyObject* logging = PyDict_GetItemString(PyImport_GetModuleDict(), "logging");
  if (!logging) return true;
  if (!keep(k.logging_shutdown, logging, "shutdown")) return false;
  if (!keep(k.logging_handlers, logging, "_handlerList")) return false;
  k.logging_handler_count = PyObject_Size(k.logging_handlers);
  Ref done = Ref::steal(PyObject_CallMethod(atexit, "unregister", "O", k.logging_shutdown));
  return static_cast<bool>(done);
}

}  // namespace

bool keep_endings(InterpreterRefs& k) {
  Ref atexit = Ref::steal(PyImport_ImportModule("atexit"));
  return atexit && keep(k.run_exitfuncs, atexit.get(), "_run_exitfuncs") &&
         keep_logging(k, atexit.get()) && keep_threading(k) && keep_files(k);
}

}  // namespace shim
