#include "shim/python/kept.h"

#include <signal.h>
#include <sys/mman.h>

#include "shim/python/ending.h"
#include "shim/python/program.h"
#include "shim/python/setup.h"

namespace shim {
namespace {

Kept the_kept;
Numpy the_numpy;
bool have_numpy = false;

// Keeps `object.name`; a chain of these stops at the first failure.
bool keep(PyObject*& slot, PyObject* object, const char* name) {
  slot = object ? PyObject_GetAttrString(object, name) : nullptr;
  return slot != nullptr;
}

bool keep_getter(PyObject*& slot, PyObject* type, const char* name) {
  slot = getter_of(type, name);
  return slot != nullptr;
}

// Absent in some versions: not a failure.
void keep_if_there(PyObject*& slot, PyObject* object, const char* name) {
  if (!keep(slot, object, name)) PyErr_Clear();
}

bool keep_builtins(Kept& k) {
  k.builtins = PyImport_ImportModule("builtins");
  Ref sys = Ref::steal(PyImport_ImportModule("sys"));
  Ref os = Ref::steal(PyImport_ImportModule("os"));
  Ref linecache = Ref::steal(PyImport_ImportModule("linecache"));
  if (!k.builtins || !sys || !os || !linecache) return false;
  k.file_name = PyUnicode_InternFromString("main.py");
  k.exec = PyUnicode_InternFromString("exec");
  return k.file_name && k.exec && keep(k.compile, k.builtins, "compile") &&
         keep(k.system_excepthook, sys.get(), "excepthook") &&
         keep(k.environ, os.get(), "environ") && keep(k.linecache, linecache.get(), "cache");
}

bool keep_getters(Kept& k) {
  PyObject* type = reinterpret_cast<PyObject*>(&PyType_Type);
  bool fine = keep_getter(k.type_name, type, "__name__") &&
              keep_getter(k.type_qualname, type, "__qualname__") &&
              keep_getter(k.type_module, type, "__module__") &&
              keep_getter(k.suppress_context, PyExc_BaseException, "__suppress_context__") &&
              keep_getter(k.exit_code, PyExc_SystemExit, "code") &&
              keep_getter(k.os_errno, PyExc_OSError, "errno") &&
              keep_getter(k.syntax_msg, PyExc_SyntaxError, "msg") &&
              keep_getter(k.syntax_filename, PyExc_SyntaxError, "filename") &&
              keep_getter(k.syntax_lineno, PyExc_SyntaxError, "lineno") &&
              keep_getter(k.syntax_offset, PyExc_SyntaxError, "offset") &&
              keep_getter(k.syntax_text, PyExc_SyntaxError, "text");
  if (!fine) return false;
  if (!keep_getter(k.syntax_end_lineno, PyExc_SyntaxError, "end_lineno")) PyErr_Clear();
  if (!keep_getter(k.syntax_end_offset, PyExc_SyntaxError, "end_offset")) PyErr_Clear();
  keep_if_there(k.group_type, k.builtins, "BaseExceptionGroup");
  return !k.group_type || keep_getter(k.group_exceptions, k.group_type, "exceptions");
}

bool keep_methods(Kept& k) {
  return keep(k.set_iter, reinterpret_cast<PyObject*>(&PySet_Type), "__iter__") &&
         keep(k.frozenset_iter, reinterpret_cast<PyObject*>(&PyFrozenSet_Type), "__iter__") &&
         keep(k.int_bit_length, reinterpret_cast<PyObject*>(&PyLong_Type), "bit_length") &&
         keep(k.int_to_bytes, reinterpret_cast<PyObject*>(&PyLong_Type), "to_bytes") &&
         keep(k.memoryview_tobytes, reinterpret_cast<PyObject*>(&PyMemoryView_Type), "tobytes");
}

bool keep_file_type(PyTypeObject*& type, PyObject*& flush, PyObject* io, const char* name) {
  PyObject* found = PyObject_GetAttrString(io, name);
  type = reinterpret_cast<PyTypeObject*>(found);
  return keep(flush, found, "flush");
}

bool keep_endings(Kept& k) {
  Ref io = Ref::steal(PyImport_ImportModule("io"));
  Ref threading = Ref::steal(PyImport_ImportModule("threading"));
  Ref atexit = Ref::steal(PyImport_ImportModule("atexit"));
  Ref gc = Ref::steal(PyImport_ImportModule("gc"));
  if (!io || !threading || !atexit || !gc) return false;
  Ref main_thread = attribute(threading.get(), "_main_thread");
  if (!main_thread) return false;
  keep_if_there(k.set_native_id, main_thread.get(), "_set_native_id");
  return keep_file_type(k.text_type, k.text_flush, io.get(), "TextIOWrapper") &&
         keep_file_type(k.writer_type, k.writer_flush, io.get(), "BufferedWriter") &&
         keep_file_type(k.random_file_type, k.random_flush, io.get(), "BufferedRandom") &&
         keep(k.threading_shutdown, threading.get(), "_shutdown") &&
         keep(k.run_exitfuncs, atexit.get(), "_run_exitfuncs") &&
         keep(k.gc_objects, gc.get(), "get_objects");
}

bool keep_opcodes(Kept& k) {
  Ref opcode = Ref::steal(PyImport_ImportModule("opcode"));
  Ref map = opcode ? attribute(opcode.get(), "opmap") : Ref();
  if (!map) return false;
  const char* const names[] = {"RAISE_VARARGS", "RERAISE"};
  for (size_t i = 0; i < 2; ++i) {
    PyObject* number = PyDict_GetItemString(map.get(), names[i]);
    k.raise_opcodes[i] = number ? PyLong_AsLong(number) : -1;
  }
  return true;
}

bool keep_generators(Kept& k) {
  PyObject* modules = PyImport_GetModuleDict();
  if (PyObject* random = PyDict_GetItemString(modules, "random")) {
    Ref base = Ref::steal(PyImport_ImportModule("_random"));
    Ref type = base ? attribute(base.get(), "Random") : Ref();
    if (!keep(k.seed_random, type.get(), "seed")) return false;
    if (!keep(k.random_instance, random, "_inst")) return false;
  }
  if (PyObject* mtrand = PyDict_GetItemString(modules, "numpy.random.mtrand")) {
    Ref state = attribute(mtrand, "_rand");
    if (!state || !keep(k.seed_numpy_legacy, state.get(), "seed")) return false;
  }
  return true;
}

bool fill(Numpy& n, PyObject* numpy) {
  Ref array = attribute(numpy, "ndarray");
  Ref scalar = attribute(numpy, "generic");
  Ref dtype = attribute(numpy, "dtype");
  Ref int64 = attribute(numpy, "int64");
  if (!array || !scalar || !dtype || !int64) return false;
  if (!PyType_Check(array.get()) || !PyType_Check(scalar.get())) return false;
  bool fine = keep(n.array_tolist, array.get(), "tolist") &&
              keep(n.array_copy, array.get(), "copy") &&
              keep_getter(n.array_shape, array.get(), "shape") &&
              keep_getter(n.array_dtype, array.get(), "dtype") &&
              keep_getter(n.dtype_kind, dtype.get(), "kind") &&
              keep_getter(n.dtype_size, dtype.get(), "itemsize") &&
              keep(n.scalar_item, scalar.get(), "item");
  if (!fine) return false;
  n.int64 = call(dtype.get(), int64.get()).release();
  n.array_type = reinterpret_cast<PyTypeObject*>(array.release());
  n.scalar_type = reinterpret_cast<PyTypeObject*>(scalar.release());
  return n.int64 != nullptr;
}

bool freeze_heap() {
  Ref gc = Ref::steal(PyImport_ImportModule("gc"));
  Ref collect = gc ? attribute(gc.get(), "collect") : Ref();
  Ref freeze = gc ? attribute(gc.get(), "freeze") : Ref();
  return collect && freeze && call(collect.get()) && call(freeze.get());
}

}  // namespace

const Kept& kept() { return the_kept; }

PyObject* getter_of(PyObject* type, const char* name) {
  Ref dictionary = attribute(type, "__dict__");
  if (!dictionary) return nullptr;
  Ref key = Ref::steal(PyUnicode_FromString(name));
  Ref descriptor = key ? Ref::steal(PyObject_GetItem(dictionary.get(), key.get())) : Ref();
  return descriptor ? PyObject_GetAttrString(descriptor.get(), "__get__") : nullptr;
}

const Numpy* loaded_numpy() {
  if (have_numpy) return &the_numpy;
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
  if (!module) return nullptr;
  have_numpy = fill(the_numpy, module);
  PyErr_Clear();
  return have_numpy ? &the_numpy : nullptr;
}

const Numpy* import_numpy() {
  if (have_numpy) return &the_numpy;
  Ref module = Ref::steal(PyImport_ImportModule("numpy"));
  if (!module) return nullptr;
  have_numpy = fill(the_numpy, module.get());
  return have_numpy ? &the_numpy : nullptr;
}

bool prepare_interpreter() {
  Kept& k = the_kept;
  bool fine = keep_builtins(k) && keep_getters(k) && keep_methods(k) && keep_endings(k) &&
              keep_opcodes(k) && keep_generators(k) && make_streams(k) && keep_signals() &&
              keep_reserve() && add_audit_hook();
  if (!fine) return false;
  loaded_numpy();
  return warm_up() && freeze_heap();
}

bool leave_bootstrap() {
  // Twice, because up to 3.11 a new state becomes the one that PyGILState_Ensure finds (callbacks
  // from C) only when the thread has none: the first makes room, the second moves in. The old state
  // is not cleared, for its frames never end; its memory is leaked on purpose.
  PyInterpreterState* interpreter = PyInterpreterState_Get();
  for (int i = 0; i < 2; ++i) {
    PyThreadState* fresh = PyThreadState_New(interpreter);
    if (!fresh) return false;
    PyThreadState* old = PyThreadState_Swap(fresh);
    PyThreadState_Delete(old);
  }
  return true;
}

}  // namespace shim
