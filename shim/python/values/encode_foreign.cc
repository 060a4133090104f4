// The values that are no plain Python: numpy's, memory views, and integers too large for a
// register.

#include <cstring>
#include <string>
#include <vector>

#include "shim/python/interpreter_refs.h"
#include "shim/python/text.h"
#include "shim/python/values/encode.h"

namespace shim {
namespace {

constexpr uint32_t kChunk = 1'000'000'000;  // nine decimal digits

// The magnitude of a two's complement little-endian number, in 32-bit words.
std::vector<uint32_t> magnitude(std::string_view bytes) {
  const bool negative = (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0;
  std::vector<uint32_t> words((bytes.size() + 3) / 4, negative ? UINT32_MAX : 0);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  uint64_t carry = 1;
  for (uint32_t& word : words) {
    if (!negative) break;
    carry += static_cast<uint32_t>(~word);
    word = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  return words;
}

// Our own conversion, because the interpreter's obeys a limit that the program may have set.
std::string decimal(std::string_view bytes) {
  std::vector<uint32_t> words = magnitude(bytes);
  std::string reversed;
  while (!words.empty()) {
    uint64_t rest = 0;
    for (size_t i = words.size(); i-- > 0;) {
      const uint64_t part = (rest << 32) | words[i];
      words[i] = static_cast<uint32_t>(part / kChunk);
      rest = part % kChunk;
    }
    while (!words.empty() && words.back() == 0) words.pop_back();
    for (int digit = 0; digit < 9; ++digit, rest /= 10) {
      reversed += static_cast<char>('0' + rest % 10);
    }
  }
  while (reversed.size() > 1 && reversed.back() == '0') reversed.pop_back();
  if ((static_cast<unsigned char>(bytes.back()) & 0x80U) != 0) reversed += '-';
  return {reversed.rbegin(), reversed.rend()};
}

struct KindName {
  const char* name;
  char kind;
  bool sized;  // the name ends with the number of bits
};
constexpr KindName kKinds[] = {
    {"bool", 'b', false},       {"int", 'i', true},          {"uint", 'u', true},
    {"float", 'f', true},       {"complex", 'c', true},      {"object", 'O', false},
    {"str", 'U', true},         {"bytes", 'S', true},        {"void", 'V', true},
    {"datetime64", 'M', false}, {"timedelta64", 'm', false},
};

}  // namespace

bool Encoder::put_big_integer(PyObject* value) {
  constexpr long kMaxBits = 14'285;  // of 10 ** 4300
  Ref length = call(refs().int_bit_length, value);
  if (!length) return raised();
  const long bits = PyLong_AsLong(length.get());
  if (bits < 0 || bits > kMaxBits) {
    PyErr_Clear();
    return invalid("an integer with more than 4300 digits");
  }
  Ref positional = Ref::steal(Py_BuildValue("(Ols)", value, bits / 8 + 1, "little"));
  Ref named = Ref::steal(Py_BuildValue("{sO}", "signed", Py_True));
  if (!positional || !named) return raised();
  Ref bytes = Ref::steal(PyObject_Call(refs().int_to_bytes, positional.get(), named.get()));
  char* content = nullptr;
  Py_ssize_t size = 0;
  if (!bytes || PyBytes_AsStringAndSize(bytes.get(), &content, &size) < 0) return raised();
  const std::string digits = decimal({content, static_cast<size_t>(size)});
  if (digits.size() - (digits[0] == '-' ? 1 : 0) > kMaxIntegerDigits) {
    return invalid("an integer with more than 4300 digits");
  }
  return counted(Tag::kBigInt, digits);
}

bool Encoder::put_foreign(PyObject* value) {
  if (PyMemoryView_Check(value)) {
    Ref bytes = call(refs().memoryview_tobytes, value);
    if (bytes) return put_bytes(bytes.get());
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) return raised();
    PyErr_Clear();
    return invalid_type(value);  // released
  }
  if (const Numpy* numpy = loaded_numpy()) {
    if (PyObject_TypeCheck(value, numpy->array_type)) return put_array(value, *numpy);
    if (PyObject_TypeCheck(value, numpy->scalar_type)) return put_scalar(value, *numpy);
  }
  return invalid_type(value);
}

bool Encoder::put_array_name(PyObject* dtype, const Numpy& numpy) {
  Ref kind = call(numpy.dtype_kind, dtype);
  Ref size = kind ? call(numpy.dtype_size, dtype) : Ref();
  const long bytes = size ? PyLong_AsLong(size.get()) : -1;
  char letter[4] = "?";
  BoundedText(letter).add_object(kind.get(), 1);
  PyErr_Clear();
  for (const KindName& known : kKinds) {
    if (known.kind != letter[0]) continue;
    char name[32];
    BoundedText text(name);
    text.add(known.name);
    if (known.sized) text.add_number(bytes * 8);
    return counted(Tag::kStr, text.view());
  }
  return counted(Tag::kStr, "unknown");
}

bool Encoder::put_array(PyObject* array, const Numpy& numpy) {
  if (!enter(array, Step::Kind::kArray) || !tag(Tag::kArray)) return false;
  Ref dtype = call(numpy.array_dtype, array);
  Ref shape = call(numpy.array_shape, array);
  if (!dtype || !shape || !PyTuple_Check(shape.get())) return raised();
  if (!put_array_name(dtype.get(), numpy)) return false;
  const Py_ssize_t rank = PyTuple_Size(shape.get());
  open(Tag::kList, static_cast<uint32_t>(rank));
  size_t room = capacity_ - size_;  // every item takes a byte at least
  for (Py_ssize_t i = 0; i < rank; ++i) {
    PyObject* length = PyTuple_GetItem(shape.get(), i);
    if (!put_integer(length)) return false;
    const size_t items = PyLong_AsSize_t(length);
    if (items > room) return too_large();
    if (items > 1) room /= items;
  }
  Ref nested = call(numpy.array_tolist, array);
  if (!nested) return raised();
  return put(nested.get()) && leave();
}

bool Encoder::put_scalar(PyObject* scalar, const Numpy& numpy) {
  Ref plain = call(numpy.scalar_item, scalar);
  if (!plain) return raised();
  // A long double has no plain form: item() gives it back as it is.
  if (PyObject_TypeCheck(plain.get(), numpy.scalar_type) && !PyFloat_Check(plain.get()) &&
      !PyComplex_Check(plain.get())) {
    return invalid_type(scalar);
  }
  return put(plain.get());
}

}  // namespace shim
