// The extension module `_zygo`, imported by bootstrap.py in the template process.

#include <unistd.h>

#include "shim/fixed/fixed.h"
#include "shim/heap/settle.h"
#include "shim/heap/trial.h"
#include "shim/python/program.h"
#include "shim/python/ref.h"
#include "shim/serve.h"

namespace {

// Counted with the descriptor of proc that the launcher left; without it, the threads that the
// interpreter knows.
PyObject* thread_count(PyObject* /*self*/, PyObject* /*none*/) {
  const int native = shim::native_thread_count();
  if (native > 0) return PyLong_FromLong(native);
  shim::Ref threading = shim::Ref::steal(PyImport_ImportModule("threading"));
  if (!threading) return nullptr;
  return PyObject_CallMethod(threading.get(), "active_count", nullptr);
}

// Turns this process into a template zygote. From here on there is no way back into Python: no
// frame of ours is left for a program to find.
PyObject* serve(PyObject* /*self*/, PyObject* args) {
  int control = -1;
  const char* heap = nullptr;
  if (!PyArg_ParseTuple(args, "is", &control, &heap)) return nullptr;
  const shim::HeapMode mode = shim::heap_mode_named(heap);
  if (!shim::prepare_interpreter()) return nullptr;
  if (!shim::leave_bootstrap()) _exit(1);
  if (zygo_fixed_pause) zygo_fixed_pause();  // until a job begins
  // An image takes longer than most programs: who is waiting already gets a cell on the heap as it
  // is.
  if (mode != shim::HeapMode::kPlain) shim::serve_early_orders(control);
  shim::warm_image(mode);
  shim::serve_cells(control);
}

PyObject* is_fixed(PyObject* /*self*/, PyObject* /*none*/) {
  return PyBool_FromLong(zygo_fixed_begin != nullptr);
}

PyMethodDef functions[] = {
    {"is_fixed", is_fixed, METH_NOARGS,
     "is_fixed() -> bool: whether the library of fixed mode is loaded."},
    {"serve", serve, METH_VARARGS,
     "serve(control_fd, heap): forks cells on demand. Never returns."},
    {"thread_count", thread_count, METH_NOARGS,
     "thread_count() -> int: the threads of this process, those of C libraries included."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT,
                      "_zygo",
                      "The inside of a zygote.",
                      -1,
                      functions,
                      nullptr,
                      nullptr,
                      nullptr,
                      nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__zygo() {
  shim::prefer_heap_to_mmap();
  return PyModule_Create(&module);
}
