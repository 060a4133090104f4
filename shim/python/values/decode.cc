// Encoded values to Python objects, and rectangular lists of integers straight to numpy arrays.

#include "shim/python/values/decode.h"

#include <cstring>

#include "shim/python/interpreter_refs.h"

namespace shim {
namespace {

Ref malformed() {
  PyErr_SetString(PyExc_ValueError, "the request is malformed");
  return {};
}

double read_double(Reader& from) {
  std::string_view bytes = from.take(8);
  double value = 0;
  if (bytes.size() == 8) std::memcpy(&value, bytes.data(), 8);
  return value;
}

Ref decode_big_integer(std::string_view digits) {
  if (digits.empty() || digits.size() > kMaxIntegerDigits + 1) return malformed();
  char text[kMaxIntegerDigits + 2];
  std::memcpy(text, digits.data(), digits.size());
  text[digits.size()] = '\0';
  return Ref::steal(PyLong_FromString(text, nullptr, 10));
}

Ref decode_list(Reader& from, unsigned depth) {
  const uint32_t count = from.count();
  if (count > from.left().size()) return malformed();
  Ref list = Ref::steal(PyList_New(count));
  for (uint32_t i = 0; list && i < count; ++i) {
    Ref item = decode(from, depth + 1);
    if (!item) return {};
    PyList_SetItem(list.get(), i, item.release());
  }
  return list;
}

Ref decode_tuple(Reader& from, unsigned depth) {
  const uint32_t count = from.count();
  if (count > from.left().size()) return malformed();
  Ref tuple = Ref::steal(PyTuple_New(count));
  for (uint32_t i = 0; tuple && i < count; ++i) {
    Ref item = decode(from, depth + 1);
    if (!item) return {};
    PyTuple_SetItem(tuple.get(), i, item.release());
  }
  return tuple;
}

Ref decode_set(Reader& from, unsigned depth, Tag kind) {
  Ref items = decode_list(from, depth);
  if (!items) return {};
  return Ref::steal(kind == Tag::kSet ? PySet_New(items.get()) : PyFrozenSet_New(items.get()));
}

Ref decode_dict(Reader& from, unsigned depth) {
  const uint32_t count = from.count();
  Ref dict = Ref::steal(PyDict_New());
  for (uint32_t i = 0; dict && i < count; ++i) {
    Ref key = decode(from, depth + 1);
    Ref value = key ? decode(from, depth + 1) : Ref();
    if (!value || PyDict_SetItem(dict.get(), key.get(), value.get()) < 0) return {};
  }
  return dict;
}

Ref decode_array(Reader& from, unsigned depth) {
  Ref dtype = decode(from, depth + 1);
  Ref shape = dtype ? decode(from, depth + 1) : Ref();
  Ref value = shape ? decode(from, depth + 1) : Ref();
  Ref numpy = value ? Ref::steal(PyImport_ImportModule("numpy")) : Ref();
  if (!numpy) return {};
  Ref array = Ref::steal(PyObject_CallMethod(numpy.get(), "array", "OO", value.get(), dtype.get()));
  if (!array) return {};
  return Ref::steal(PyObject_CallMethod(array.get(), "reshape", "O", shape.get()));
}

// The look of a nested list of integers from outside.
struct Grid {
  static constexpr unsigned kMaxRank = 32;  // numpy's own limit up to 1.26
  unsigned rank = 0;                        // 0: no leaf seen so far
  unsigned known = 0;                       // levels whose length is known
  uint32_t shape[kMaxRank] = {};
  size_t count = 0;
};

bool is_integer(char tag) {
  return tag == static_cast<char>(Tag::kSmall) || tag == static_cast<char>(Tag::kInt);
}

// Passes over one list. False: something else than integers in it, or it is not rectangular.
bool measure(Reader& from, unsigned level, Grid& grid) {
  if (level >= Grid::kMaxRank || from.tag() != static_cast<char>(Tag::kList)) return false;
  const uint32_t length = from.count();
  if (level < grid.known && grid.shape[level] != length) return false;
  if (level >= grid.known) {
    grid.shape[level] = length;
    grid.known = level + 1;
  }
  const bool inner = from.peek() == static_cast<char>(Tag::kList) && length > 0;
  if (inner) {
    for (uint32_t i = 0; i < length; ++i) {
      if (!measure(from, level + 1, grid)) return false;
    }
    return !from.broken();
  }
  if (grid.rank != 0 && grid.rank != level + 1) return false;
  grid.rank = level + 1;
  for (uint32_t i = 0; i < length; ++i) {
    const char tag = from.tag();
    if (!is_integer(tag)) return false;
    from.integer(tag);
  }
  grid.count += length;
  return !from.broken();
}

void copy_integers(Reader& from, char* into) {
  from.open(Tag::kList);
  for (std::string_view left = from.left(); !left.empty(); left = from.left()) {
    const char tag = from.tag();
    if (!is_integer(tag)) {
      from.count();  // an inner list: its integers follow
      continue;
    }
    const int64_t value = from.integer(tag);
    std::memcpy(into, &value, sizeof value);
    into += sizeof value;
  }
}

Ref shape_of(const Grid& grid) {
  Ref shape = Ref::steal(PyTuple_New(grid.rank));
  for (unsigned i = 0; shape && i < grid.rank; ++i) {
    PyObject* length = PyLong_FromUnsignedLong(grid.shape[i]);
    if (!length) return {};
    PyTuple_SetItem(shape.get(), i, length);
  }
  return shape;
}

Ref make_array(std::string_view bytes, const Grid& grid) {
  const Numpy* numpy = import_numpy();
  if (!numpy) return {};
  const auto size = static_cast<Py_ssize_t>(grid.count * sizeof(int64_t));
  Ref buffer = Ref::steal(PyByteArray_FromStringAndSize(nullptr, size));
  Ref shape = shape_of(grid);
  if (!buffer || !shape) return {};
  Reader from(bytes);
  copy_integers(from, PyByteArray_AsString(buffer.get()));
  Ref borrowing =
      call(reinterpret_cast<PyObject*>(numpy->array_type), shape.get(), numpy->int64, buffer.get());
  // A copy owns its memory, as an array that the program made itself would.
  return borrowing ? call(numpy->array_copy, borrowing.get()) : Ref();
}

}  // namespace

Ref decode(Reader& from, unsigned depth) {
  if (depth > kMaxValueDepth || from.broken()) return malformed();
  const char tag = from.tag();
  Ref value;
  switch (static_cast<Tag>(tag)) {
    case Tag::kNone:
      value = Ref::share(Py_None);
      break;
    case Tag::kTrue:
      value = Ref::share(Py_True);
      break;
    case Tag::kFalse:
      value = Ref::share(Py_False);
      break;
    case Tag::kSmall:
    case Tag::kInt:
      value = Ref::steal(PyLong_FromLongLong(from.integer(tag)));
      break;
    case Tag::kBigInt:
      value = decode_big_integer(from.take(from.count()));
      break;
    case Tag::kFloat:
      value = Ref::steal(PyFloat_FromDouble(read_double(from)));
      break;
    case Tag::kComplex: {
      const double real = read_double(from);
      value = Ref::steal(PyComplex_FromDoubles(real, read_double(from)));
      break;
    }
    case Tag::kStr:
      value = decode_text(from.take(from.count()));
      break;
    case Tag::kBytes: {
      std::string_view bytes = from.take(from.count());
      value = Ref::steal(
          PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
      break;
    }
    case Tag::kList:
      value = decode_list(from, depth);
      break;
    case Tag::kTuple:
      value = decode_tuple(from, depth);
      break;
    case Tag::kSet:
    case Tag::kFrozenSet:
      value = decode_set(from, depth, static_cast<Tag>(tag));
      break;
    case Tag::kDict:
      value = decode_dict(from, depth);
      break;
    case Tag::kArray:
      value = decode_array(from, depth);
      break;
    default:
      return malformed();
  }
  if (value && from.broken()) return malformed();
  return value;
}

Ref decode_argument(Reader& from, bool arrays) {
  if (!arrays || from.peek() != static_cast<char>(Tag::kList)) return decode(from);
  Reader probe = from;
  Grid grid;
  if (!measure(probe, 0, grid)) return decode(from);
  return make_array(from.skip(), grid);
}

}  // namespace shim
