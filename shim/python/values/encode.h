#pragma once
// Python objects to the value format, inside a hostile process. No method that the program can
// override is ever called: subclasses of the built-in classes are read as their base, by the C API,
// and type tests look at real types. Nothing here is trusted by the reader on the other side.

#include <cstdint>
#include <string_view>

#include "shim/python/ref.h"
#include "shim/value_format.h"

namespace shim {

struct Numpy;

// Writes into [begin, begin + capacity) and never beyond.
class Encoder {
 public:
  enum class Outcome : uint8_t {
    kFine,
    kInvalid,  // reason() and path() say why and where
    kRaised,   // a Python exception is set (MemoryError)
  };

  Encoder(char* begin, size_t capacity) : begin_(begin), capacity_(capacity) {}

  // The list of results: opened empty, then one result after the other.
  void open_results();
  Outcome add_result(PyObject* value);

  // For payloads of our own making. They fit, or complete() is false.
  void open(Tag container, uint32_t count);
  void text(std::string_view utf8);
  void small(uint8_t value);
  void integer(int64_t value);

  size_t size() const { return size_; }
  bool complete() const { return outcome_ == Outcome::kFine; }
  std::string_view reason() const { return reason_; }
  std::string_view path() const { return path_text_; }

 private:
  struct Step {
    enum class Kind : uint8_t { kIndex, kKey, kInKey, kInSet, kArray } kind;
    PyObject* container;
    PyObject* key;
    Py_ssize_t index;
  };

  bool put(PyObject* value);
  bool put_integer(PyObject* value);
  bool put_big_integer(PyObject* value);
  bool put_text(PyObject* value);
  bool put_bytes(PyObject* value);
  bool put_list(PyObject* value);
  bool put_tuple(PyObject* value);
  bool put_dict(PyObject* value);
  bool put_set(PyObject* value);
  bool put_foreign(PyObject* value);
  bool put_array(PyObject* array, const Numpy& numpy);
  bool put_array_name(PyObject* dtype, const Numpy& numpy);
  bool put_scalar(PyObject* scalar, const Numpy& numpy);

  bool raw(const void* bytes, size_t size);
  bool tag(Tag value);
  bool counted(Tag value, std::string_view bytes);
  bool reserve_count(Tag value, size_t& where);
  bool fill_count(size_t where, uint64_t count);
  bool sort_items(size_t start, uint32_t count);

  bool enter(PyObject* container, Step::Kind kind);
  bool leave() { return --depth_, true; }
  Step& here() { return path_[depth_ - 1]; }

  bool invalid(const char* reason);
  bool invalid_type(PyObject* value);
  bool too_large();
  bool raised();
  void show_path();

  char* begin_;
  size_t capacity_;
  size_t size_ = 0;
  uint32_t results_ = 0;
  Outcome outcome_ = Outcome::kFine;
  unsigned depth_ = 0;
  Step path_[kMaxValueDepth];
  char reason_[192] = "";
  char path_text_[1024] = "";
};

}  // namespace shim
