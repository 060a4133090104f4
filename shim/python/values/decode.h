#pragma once
// Decodes values (value_format.h) to Python objects. Runs in the job's process.

#include "shim/python/ref.h"
#include "shim/request.h"

namespace shim {

// One value as a new object; null with an exception set (ValueError: the bytes are malformed).
Ref decode(Reader& from, unsigned depth = 0);

// One argument. With `arrays` a rectangular nested list of integers becomes a numpy array.
Ref decode_argument(Reader& from, bool arrays);

// The text of a string of the request, as a new str.
inline Ref decode_text(std::string_view text) {
  return Ref::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr));
}

}  // namespace shim
