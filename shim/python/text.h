#pragma once
// BoundedText: text put together in a buffer of the caller, cut at a whole character when it is
// full. Takes any Python object's text without running a line of the program's, never allocates on
// its own, never leaves an exception set: it works where memory is exhausted.

#include <cstddef>
#include <string_view>

#include "shim/python/ref.h"

namespace shim {

class BoundedText {
 public:
  BoundedText(char* buffer, size_t capacity) : buffer_(buffer), limit_(capacity) {}
  template <size_t N>
  explicit BoundedText(char (&buffer)[N]) : BoundedText(buffer, N) {}

  std::string_view view() const { return {buffer_, size_}; }
  bool full() const { return full_; }
  // Room for `bytes` in all, within the buffer: what comes early cannot crowd out what comes late.
  void limit(size_t bytes) {
    limit_ = bytes;
    full_ = false;
  }

  void add(std::string_view utf8);
  void add_number(long long number);
  void add_repeated(char letter, size_t times);
  // The text of a str (or subclass), at most `characters` of it; lone surrogates as \udc80.
  void add_object(PyObject* text, Py_ssize_t characters);
  void add_type_name(PyTypeObject* type);

 private:
  char* buffer_;
  size_t limit_;
  size_t size_ = 0;
  bool full_ = false;
};

inline constexpr Py_ssize_t kMaxNameCharacters = 100;

}  // namespace shim
