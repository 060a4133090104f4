#include "shim/python/text.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "shim/python/interpreter_refs.h"

namespace shim {

void BoundedText::add(std::string_view utf8) {
  if (full_) return;
  size_t fits = std::min(utf8.size(), limit_ > size_ ? limit_ - size_ : 0);
  if (fits < utf8.size()) {
    full_ = true;
    while (fits > 0 && (static_cast<unsigned char>(utf8[fits]) & 0xC0U) == 0x80U) --fits;
  }
  if (fits > 0) std::memcpy(buffer_ + size_, utf8.data(), fits);
  size_ += fits;
}

void BoundedText::add_number(long long number) {
  char digits[24];
  const int length = std::snprintf(digits, sizeof digits, "%lld", number);
  add({digits, static_cast<size_t>(length)});
}

void BoundedText::add_repeated(char letter, size_t times) {
  for (size_t i = 0; i < times && !full_; ++i) add({&letter, 1});
}

void BoundedText::add_object(PyObject* text, Py_ssize_t characters) {
  if (!text || !PyUnicode_Check(text)) return;
  Ref part = PyUnicode_GetLength(text) > characters
                 ? Ref::steal(PyUnicode_Substring(text, 0, characters))
                 : Ref::share(text);
  // The UTF-8 codec does this error handler by itself, without asking the codec registry.
  Ref utf8 =
      part ? Ref::steal(PyUnicode_AsEncodedString(part.get(), "utf-8", "backslashreplace")) : Ref();
  char* bytes = nullptr;
  Py_ssize_t size = 0;
  if (utf8 && PyBytes_AsStringAndSize(utf8.get(), &bytes, &size) == 0) {
    add({bytes, static_cast<size_t>(size)});
  }
  PyErr_Clear();
}

void BoundedText::add_type_name(PyTypeObject* type) {
  Ref name = call(refs().type_name, reinterpret_cast<PyObject*>(type));
  PyErr_Clear();
  if (!name) return add("?");
  add_object(name.get(), kMaxNameCharacters);
}

}  // namespace shim
