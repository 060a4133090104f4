#include "shim/python/program.h"
#include "shim/python/ref.h"

namespace shim {

std::vector<std::string> trials_of_setup() {
  std::vector<std::string> sources;
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* setup = PyDict_GetItemString(modules, "zygo_setup");  // borrowed
  Ref trials = setup ? attribute(setup, "__trials__") : Ref();
  Ref items = trials ? Ref::steal(PySequence_Tuple(trials.get())) : Ref();
  const Py_ssize_t count = items ? PyTuple_Size(items.get()) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GetItem(items.get(), i);  // borrowed
    Py_ssize_t size = 0;
    const char* text = PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, &size) : nullptr;
    if (text) sources.emplace_back(text, static_cast<size_t>(size));
  }
  PyErr_Clear();
  return sources;
}

}  // namespace shim
