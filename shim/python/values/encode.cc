#include "shim/python/values/encode.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "shim/python/interpreter_refs.h"
#include "shim/python/text.h"
#include "shim/python/values/decode.h"

namespace shim {

void Encoder::open_results() {
  size_t where = 0;
  reserve_count(Tag::kList, where);
}

Encoder::Outcome Encoder::add_result(PyObject* value) {
  path_[0] = {Step::Kind::kIndex, nullptr, nullptr, results_};
  depth_ = 1;
  try {
    if (outcome_ == Outcome::kFine && put(value)) fill_count(1, ++results_);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    raised();
  }
  return outcome_;
}

void Encoder::open(Tag container, uint32_t count) {
  size_t where = 0;
  if (reserve_count(container, where)) fill_count(where, count);
}

void Encoder::text(std::string_view utf8) { counted(Tag::kStr, utf8); }

void Encoder::small(uint8_t value) { tag(Tag::kSmall) && raw(&value, sizeof value); }

void Encoder::integer(int64_t value) { tag(Tag::kInt) && raw(&value, sizeof value); }

// Bytes

bool Encoder::raw(const void* bytes, size_t size) {
  if (size > capacity_ - size_) return too_large();
  if (size > 0) std::memcpy(begin_ + size_, bytes, size);
  size_ += size;
  return true;
}

bool Encoder::tag(Tag value) {
  if (size_ == capacity_) return too_large();
  begin_[size_++] = static_cast<char>(value);
  return true;
}

bool Encoder::counted(Tag value, std::string_view bytes) {
  if (bytes.size() > UINT32_MAX) return too_large();
  const auto size = static_cast<uint32_t>(bytes.size());
  return tag(value) && raw(&size, sizeof size) && raw(bytes.data(), bytes.size());
}

bool Encoder::reserve_count(Tag value, size_t& where) {
  if (!tag(value)) return false;
  where = size_;
  const uint32_t none = 0;
  return raw(&none, sizeof none);
}

bool Encoder::fill_count(size_t where, uint64_t count) {
  if (count > UINT32_MAX) return too_large();
  const auto written = static_cast<uint32_t>(count);
  if (where + sizeof written <= size_) std::memcpy(begin_ + where, &written, sizeof written);
  return true;
}

// Values

bool Encoder::put(PyObject* value) {
  if (PyLong_CheckExact(value)) return put_integer(value);
  if (value == Py_None) return tag(Tag::kNone);
  if (value == Py_True) return tag(Tag::kTrue);
  if (value == Py_False) return tag(Tag::kFalse);
  if (PyList_Check(value)) return put_list(value);
  if (PyUnicode_Check(value)) return put_text(value);
  if (PyLong_Check(value)) return put_integer(value);
  if (PyFloat_Check(value)) {
    const double number = PyFloat_AsDouble(value);
    return tag(Tag::kFloat) && raw(&number, sizeof number);
  }
  if (PyTuple_Check(value)) return put_tuple(value);
  if (PyDict_Check(value)) return put_dict(value);
  if (PyBytes_Check(value) || PyByteArray_Check(value)) return put_bytes(value);
  if (PyAnySet_Check(value)) return put_set(value);
  if (PyComplex_Check(value)) {
    const double parts[] = {PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value)};
    return tag(Tag::kComplex) && raw(parts, sizeof parts);
  }
  return put_foreign(value);
}

bool Encoder::put_integer(PyObject* value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow != 0) return put_big_integer(value);
  if (number >= 0 && number <= UINT8_MAX) {
    const auto byte = static_cast<uint8_t>(number);
    return tag(Tag::kSmall) && raw(&byte, sizeof byte);
  }
  return tag(Tag::kInt) && raw(&number, sizeof number);
}

bool Encoder::put_text(PyObject* value) {
  Py_ssize_t size = PyUnicode_GetLength(value);
  if (size >= 0 && static_cast<size_t>(size) > capacity_ - size_) return too_large();
  const char* utf8 = PyUnicode_AsUTF8AndSize(value, &size);
  if (utf8) return counted(Tag::kStr, {utf8, static_cast<size_t>(size)});
  if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return raised();
  PyErr_Clear();
  return invalid("a string with a lone surrogate");
}

bool Encoder::put_bytes(PyObject* value) {
  if (PyByteArray_Check(value)) {
    const auto length = static_cast<size_t>(PyByteArray_Size(value));
    return counted(Tag::kBytes, {PyByteArray_AsString(value), length});
  }
  char* bytes = nullptr;
  Py_ssize_t length = 0;
  if (PyBytes_AsStringAndSize(value, &bytes, &length) < 0) return raised();
  return counted(Tag::kBytes, {bytes, static_cast<size_t>(length)});
}

// Containers. Only a patched numpy can run foreign code while one is being read, so an item is
// owned while it is encoded, sizes are asked for anew, and the count is written last.

bool Encoder::put_list(PyObject* value) {
  size_t where = 0;
  if (!enter(value, Step::Kind::kIndex) || !reserve_count(Tag::kList, where)) return false;
  Py_ssize_t i = 0;
  for (; i < PyList_Size(value); ++i) {
    here().index = i;
    Ref item = Ref::share(PyList_GetItem(value, i));
    if (!put(item.get())) return false;
  }
  return fill_count(where, static_cast<uint64_t>(i)) && leave();
}

bool Encoder::put_tuple(PyObject* value) {
  size_t where = 0;
  if (!enter(value, Step::Kind::kIndex) || !reserve_count(Tag::kTuple, where)) return false;
  const Py_ssize_t count = PyTuple_Size(value);
  for (Py_ssize_t i = 0; i < count; ++i) {
    here().index = i;
    if (!put(PyTuple_GetItem(value, i))) return false;
  }
  return fill_count(where, static_cast<uint64_t>(count)) && leave();
}

bool Encoder::put_dict(PyObject* value) {
  size_t where = 0;
  if (!enter(value, Step::Kind::kKey) || !reserve_count(Tag::kDict, where)) return false;
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* item = nullptr;
  uint64_t count = 0;
  for (; PyDict_Next(value, &position, &key, &item); ++count) {
    Ref held_key = Ref::share(key);
    Ref held_item = Ref::share(item);
    here() = {Step::Kind::kInKey, value, key, 0};
    if (!put(held_key.get())) return false;
    here().kind = Step::Kind::kKey;
    if (!put(held_item.get())) return false;
  }
  return fill_count(where, count) && leave();
}

bool Encoder::put_set(PyObject* value) {
  const bool frozen = PyFrozenSet_Check(value);
  size_t where = 0;
  if (!enter(value, Step::Kind::kInSet)) return false;
  if (!reserve_count(frozen ? Tag::kFrozenSet : Tag::kSet, where)) return false;
  Ref iterator = call(frozen ? refs().frozenset_iter : refs().set_iter, value);
  if (!iterator) return raised();
  const size_t start = size_;
  uint32_t count = 0;
  while (Ref item = Ref::steal(PyIter_Next(iterator.get()))) {
    if (!put(item.get())) return false;
    ++count;
  }
  if (PyErr_Occurred()) return raised();
  return sort_items(start, count) && fill_count(where, count) && leave();
}

// Puts the items written since `start` into the order of their bytes.
bool Encoder::sort_items(size_t start, uint32_t count) {
  if (count < 2) return true;
  const std::string written(begin_ + start, size_ - start);
  const std::string_view all = written;
  std::vector<std::string_view> items;
  items.reserve(count);
  for (size_t at = 0; at < all.size();) {
    const size_t length = Reader(all.substr(at)).skip().size();
    if (length == 0) return too_large();
    items.push_back(all.substr(at, length));
    at += length;
  }
  std::sort(items.begin(), items.end());
  size_t at = start;
  for (std::string_view item : items) {
    std::memcpy(begin_ + at, item.data(), item.size());
    at += item.size();
  }
  return true;
}

// The way to where we are

bool Encoder::enter(PyObject* container, Step::Kind kind) {
  if (depth_ >= kMaxValueDepth) return invalid("deeper than 200 levels");
  for (unsigned i = 1; i < depth_; ++i) {
    if (path_[i].container == container) return invalid("a cycle");
  }
  path_[depth_++] = {kind, container, nullptr, 0};
  return true;
}

bool Encoder::invalid(const char* reason) {
  if (outcome_ != Outcome::kFine) return false;
  outcome_ = Outcome::kInvalid;
  std::snprintf(reason_, sizeof reason_, "%s", reason);
  show_path();
  return false;
}

bool Encoder::invalid_type(PyObject* value) {
  char name[128];
  BoundedText text(name);
  text.add_type_name(Py_TYPE(value));
  char reason[sizeof reason_];
  std::snprintf(reason, sizeof reason, "type '%.*s' cannot be encoded",
                static_cast<int>(text.view().size()), text.view().data());
  return invalid(reason);
}

bool Encoder::too_large() {
  char reason[64];
  std::snprintf(reason, sizeof reason, "larger than %zu bytes", capacity_);
  return invalid(reason);
}

bool Encoder::raised() {
  if (outcome_ == Outcome::kFine) outcome_ = Outcome::kRaised;
  return false;
}

namespace {

bool is_identifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

void add_key(BoundedText& text, PyObject* key) {
  char shown[64];
  BoundedText name(shown);
  int overflow = 0;
  if (PyUnicode_Check(key)) {
    name.add_object(key, 40);
    text.add(is_identifier(name.view()) ? "." : "[\"");
    text.add(name.view());
    if (!is_identifier(name.view())) text.add("\"]");
  } else if (PyLong_Check(key)) {
    const long long number = PyLong_AsLongLongAndOverflow(key, &overflow);
    text.add("[");
    if (overflow == 0) text.add_number(number);
    text.add("]");
  } else {
    text.add("[?]");
  }
}

}  // namespace

void Encoder::show_path() {
  BoundedText text(path_text_, sizeof path_text_ - 1);
  for (unsigned i = 0; i < depth_; ++i) {
    const Step& step = path_[i];
    switch (step.kind) {
      case Step::Kind::kIndex:
        text.add("[");
        text.add_number(step.index);
        text.add("]");
        break;
      case Step::Kind::kKey:
        if (step.key) add_key(text, step.key);
        break;
      case Step::Kind::kInKey:
        text.add(".keys()");
        break;
      case Step::Kind::kInSet:
        text.add("{}");
        break;
      case Step::Kind::kArray:
        break;
    }
  }
  path_text_[text.view().size()] = '\0';
}

}  // namespace shim
