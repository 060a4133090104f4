#include "shim/python/interpreter_refs.h"

#include "shim/python/load.h"
#include "shim/python/program.h"
#include "shim/python/setup.h"

namespace shim {
namespace {

InterpreterRefs the_refs;
Numpy the_numpy;
bool have_numpy = false;

bool keep_getter(PyObject*& slot, PyObject* type, const char* name) {
  slot = getter_of(type, name);
  return slot != nullptr;
}

// Absent in some versions: not a failure.
void keep_if_there(PyObject*& slot, PyObject* object, const char* name) {
  if (!keep(slot, object, name)) PyErr_Clear();
}

bool keep_builtins(InterpreterRefs& k) {
  k.builtins = PyImport_ImportModule("builtins");
  Ref sys = Ref::steal(PyImport_ImportModule("sys"));
  Ref os = Ref::steal(PyImport_ImportModule("os"));
  Ref linecache = Ref::steal(PyImport_ImportModule("linecache"));
  Ref trees = Ref::steal(PyImport_ImportModule("_ast"));
  if (!k.builtins || !sys || !os || !linecache || !trees) return false;
  k.file_name = PyUnicode_InternFromString("main.py");
  k.exec = PyUnicode_InternFromString("exec");
  k.native_id = PyUnicode_InternFromString("_native_id");
  return k.file_name && k.exec && k.native_id && keep(k.compile, k.builtins, "compile") &&
         keep(k.system_excepthook, sys.get(), "excepthook") &&
         keep(k.tree_of_statement, trees.get(), "Expr") &&
         keep(k.tree_of_expression, trees.get(), "Expression") &&
         keep(k.environ, os.get(), "environ") && keep(k.linecache, linecache.get(), "cache");
}

bool keep_getters(InterpreterRefs& k) {
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

bool keep_methods(InterpreterRefs& k) {
  return keep(k.set_iter, reinterpret_cast<PyObject*>(&PySet_Type), "__iter__") &&
         keep(k.frozenset_iter, reinterpret_cast<PyObject*>(&PyFrozenSet_Type), "__iter__") &&
         keep(k.int_bit_length, reinterpret_cast<PyObject*>(&PyLong_Type), "bit_length") &&
         keep(k.int_to_bytes, reinterpret_cast<PyObject*>(&PyLong_Type), "to_bytes") &&
         keep(k.memoryview_tobytes, reinterpret_cast<PyObject*>(&PyMemoryView_Type), "tobytes");
}

bool keep_opcodes(InterpreterRefs& k) {
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

// Objects that live now live for ever. The warm-up comes between the two, for a collection empties
// the caches of free objects that it fills.
bool freeze_heap(PyObject* gc) {
  Ref frozen = Ref::steal(PyObject_CallMethod(gc, "freeze", nullptr));
  return static_cast<bool>(frozen);
}

bool warm_and_freeze() {
  Ref gc = Ref::steal(PyImport_ImportModule("gc"));
  Ref collected = gc ? Ref::steal(PyObject_CallMethod(gc.get(), "collect", nullptr)) : Ref();
  return collected && freeze_heap(gc.get()) && warm_up() && freeze_heap(gc.get());
}

// A thread state gets its stack of frames with its first frame and keeps it: not in each job anew.
bool have_first_frame() {
  Ref nothing = Ref::steal(Py_CompileString("0", "", Py_eval_input));
  Ref names = Ref::steal(PyDict_New());
  return nothing && names && Ref::steal(PyEval_EvalCode(nothing.get(), names.get(), names.get()));
}

}  // namespace

const InterpreterRefs& refs() { return the_refs; }

bool keep(PyObject*& slot, PyObject* object, const char* name) {
  slot = object ? PyObject_GetAttrString(object, name) : nullptr;
  return slot != nullptr;
}

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
  InterpreterRefs& k = the_refs;
  bool fine = keep_builtins(k) && keep_getters(k) && keep_methods(k) && keep_endings(k) &&
              keep_opcodes(k) && keep_generators(k) && make_streams(k) && keep_signals() &&
              keep_reserve() && add_audit_hook();
  if (!fine) return false;
  loaded_numpy();
  return keep_modules() && keep_thread_id() && keep_path() && warm_and_freeze();
}

bool name_next_step() {
  static int number = 1;  // in memory that every node keeps
  PyObject* name = PyUnicode_FromFormat("step %d", ++number);
  if (!name) return false;
  the_refs.file_name = name;
  return true;
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
  return have_first_frame();
}

}  // namespace shim
