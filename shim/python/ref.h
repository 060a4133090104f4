#pragma once
// Ref: one owned reference to a Python object, and the few C functions of CPython that exist in
// every version from 3.9 on although the limited API of 3.9 does not declare them. The GIL is held.

#include <Python.h>

#include <utility>

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
// Both are exported by every CPython since 3.8 with these signatures; 3.10 made the first stable.
const char* PyUnicode_AsUTF8AndSize(PyObject* text, Py_ssize_t* size);
int PySys_AddAuditHook(int (*hook)(const char* event, PyObject* arguments, void* data), void* data);
}
// NOLINTEND(readability-identifier-naming)

namespace shim {

class Ref {
 public:
  Ref() = default;
  static Ref steal(PyObject* object) { return Ref(object); }
  static Ref share(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  Ref(Ref&& other) noexcept : object_(other.release()) {}
  Ref& operator=(Ref&& other) noexcept {
    Ref old(std::exchange(object_, other.release()));
    return *this;
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  explicit Ref(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

// A call with positional arguments; null with an exception set, like every call of the C API.
template <typename... Arguments>
Ref call(PyObject* function, Arguments*... arguments) {
  return Ref::steal(PyObject_CallFunctionObjArgs(function, arguments..., nullptr));
}

inline Ref attribute(PyObject* object, const char* name) {
  return Ref::steal(PyObject_GetAttrString(object, name));
}

}  // namespace shim
