#pragma once
// References to a clean interpreter: taken in the template, used in the job after the program has
// run. Nothing here is looked up by name later, so a program that patches modules, classes or
// builtins changes nothing for us. Filled once by prepare_interpreter().

#include <cstdint>

#include "shim/python/ref.h"

namespace shim {

// Where a Mersenne twister has its state in memory. Null: not loaded, or not found.
struct Mersenne {
  static constexpr int kWords = 624;
  uint32_t* words = nullptr;
  int* position = nullptr;
};

struct InterpreterRefs {
  // builtins and sys
  PyObject* builtins;
  PyObject* compile;
  PyObject* system_excepthook;
  PyObject* environ;

  // Getters of built-in classes, bound to the descriptor: call with the object.
  PyObject* type_name;
  PyObject* type_qualname;
  PyObject* type_module;
  PyObject* suppress_context;
  PyObject* exit_code;
  PyObject* os_errno;
  PyObject* syntax_msg;
  PyObject* syntax_filename;
  PyObject* syntax_lineno;
  PyObject* syntax_offset;
  PyObject* syntax_text;
  PyObject* syntax_end_lineno;  // null before 3.10
  PyObject* syntax_end_offset;  // null before 3.10
  PyObject* group_type;         // BaseExceptionGroup; null before 3.11
  PyObject* group_exceptions;   // null before 3.11

  // Unbound methods of built-in classes.
  PyObject* set_iter;
  PyObject* frozenset_iter;
  PyObject* int_bit_length;
  PyObject* int_to_bytes;
  PyObject* memoryview_tobytes;
  PyObject* text_flush;
  PyObject* writer_flush;
  PyObject* random_flush;
  PyTypeObject* text_type;
  PyTypeObject* writer_type;
  PyTypeObject* random_file_type;

  // The end of a program.
  PyObject* threading_shutdown;
  PyObject* threading_callbacks;  // the list of what it calls; how long it was
  Py_ssize_t threading_callback_count;
  PyObject* count_threads;  // _thread._count
  PyObject* main_thread;
  PyObject* run_exitfuncs;
  PyObject* logging_shutdown;  // null: not loaded, then it registers itself
  PyObject* logging_handlers;  // the list; how long it was
  Py_ssize_t logging_handler_count;
  PyObject* gc_objects;

  // The global generators, to be reseeded: in memory where their state was found, by their method
  // otherwise. Null: not loaded.
  PyObject* seed_random;        // _random.Random.seed
  PyObject* random_instance;    // random._inst
  PyObject* seed_numpy_legacy;  // numpy.random.mtrand._rand.seed
  Mersenne random;
  Mersenne numpy_legacy;

  // The standard streams as the program finds them.
  PyObject* in;
  PyObject* out;
  PyObject* err;

  PyObject* linecache;    // linecache.cache
  long raise_opcodes[2];  // RAISE_VARARGS, RERAISE; -1 where it does not exist

  // Names.
  PyObject* native_id;  // "_native_id"
  PyObject* file_name;  // "main.py": by identity, the mark of the program's own code
  PyObject* exec;

  // Steps of sessions: ast.Expr and ast.Expression.
  PyObject* tree_of_statement;
  PyObject* tree_of_expression;
};

const InterpreterRefs& refs();
// In a step that goes on: its code has a file name of its own, and so has that of all before it.
// False with an exception set.
bool name_next_step();

// numpy, when it is there. A program may import it long after the template was made.
struct Numpy {
  PyTypeObject* array_type;
  PyTypeObject* scalar_type;
  PyObject* int64;         // the dtype
  PyObject* array_tolist;  // unbound
  PyObject* array_copy;    // unbound
  PyObject* array_shape;   // getter
  PyObject* array_dtype;   // getter
  PyObject* dtype_kind;    // getter
  PyObject* dtype_size;    // getter
  PyObject* scalar_item;   // unbound
};
// Null without an exception: numpy is not loaded, or is another module of that name.
const Numpy* loaded_numpy();
// Imports it where needed. Null with an exception set.
const Numpy* import_numpy();

// Keeps `object.name`; a chain of these stops at the first failure, with its exception set.
bool keep(PyObject*& slot, PyObject* object, const char* name);

// The `__get__` of the descriptor that `type` holds under `name`; null with an exception set.
PyObject* getter_of(PyObject* type, const char* name);

// The steps of prepare_interpreter() that live in files of their own.
bool keep_endings(InterpreterRefs& refs);     // interpreter_refs_endings.cc
bool keep_generators(InterpreterRefs& refs);  // generators.cc
bool make_streams(InterpreterRefs& refs);     // streams.cc
bool add_audit_hook();                        // audit.cc
bool warm_up();                               // warm_up.cc

}  // namespace shim
