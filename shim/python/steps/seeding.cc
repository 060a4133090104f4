// The global random generators in a session. One that a step has seeded goes on with its sequence;
// the others begin each step from a state of its own, so that no two steps from one node draw
// alike. No generator tells whether it was seeded, so the functions that do it are wrapped.

#include <cstddef>

#include "shim/python/interpreter_refs.h"
#include "shim/python/setup.h"

namespace shim {
namespace {

// In memory that every node keeps.
bool random_is_seeded = false, numpy_is_seeded = false;

PyObject* pass_on(PyObject* original, PyObject* arguments, PyObject* named, bool& is_seeded) {
  is_seeded = true;
  return PyObject_Call(original, arguments, named);
}
PyObject* seed_random(PyObject* original, PyObject* arguments, PyObject* named) {
  return pass_on(original, arguments, named, random_is_seeded);
}
PyObject* seed_numpy(PyObject* original, PyObject* arguments, PyObject* named) {
  return pass_on(original, arguments, named, numpy_is_seeded);
}

using Method = PyObject* (*)(PyObject*, PyObject*, PyObject*);
PyMethodDef method_named(const char* name, Method method) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(method)),
          METH_VARARGS | METH_KEYWORDS, nullptr};
}

struct Followed {
  const char* module;
  PyMethodDef method;
};
Followed followed[] = {
    {"random", method_named("seed", seed_random)},
    {"random", method_named("setstate", seed_random)},
    {"numpy.random", method_named("seed", seed_numpy)},
    {"numpy.random", method_named("set_state", seed_numpy)},
};

void follow(Followed& each) {
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), each.module);
  if (!module) return;
  Ref original = attribute(module, each.method.ml_name);
  Ref wrapped = original ? Ref::steal(PyCFunction_New(&each.method, original.get())) : Ref();
  if (wrapped) PyObject_SetAttrString(module, each.method.ml_name, wrapped.get());
  PyErr_Clear();
}

}  // namespace

void follow_generators(bool goes_on, uint64_t seed) {
  if (!goes_on) {
    for (Followed& each : followed) follow(each);
    if (seed == 0) return;  // they are seeded as those of all jobs
  }
  reseed_unless(random_is_seeded, numpy_is_seeded, seed);
}

}  // namespace shim
