#pragma once
// The one walk over hostile value bytes. Iterative, one pass, bounded by the input's size; check(),
// the JSON writer and the comparison all stand on it, and only on bytes it has accepted.

#include <cstring>
#include <string_view>
#include <vector>

#include "runtime/values/value.h"

namespace runtime {

// The walk's record of one container (l t S Z D A); records are in the order of the beginnings. By
// them, a container is stepped over in constant time, and nested dicts need no second look at keys.
struct ValueNode {
  uint32_t end;     // offset just behind the container
  uint32_t next;    // index of the first container that begins behind it
  bool plain_keys;  // a dict that JSON can say: string keys only, none of them "$type"
};

// Depth counts containers. The list of results around a value, and an ndarray around its nested
// list, are not the program's doing, so there is room for them.
inline constexpr unsigned kMaxContainers = shim::kMaxValueDepth + 8;
inline constexpr unsigned kMaxDimensions = 64;  // of an array: numpy 2 has 64, numpy 1 has 32

// Null when `value` is well-formed, otherwise what is wrong. `nodes` may be null; `where` gets the
// offset that was looked at last.
const char* walk_value(std::string_view value, std::vector<ValueNode>* nodes,
                       size_t* where = nullptr);

// ---- Readers over bytes that walk_value() has accepted

template <typename T>
T load(std::string_view value, size_t at) {
  T result;
  std::memcpy(&result, value.data() + at, sizeof result);
  return result;
}

struct ArrayHead {
  std::string_view dtype;
  std::vector<int64_t> shape;
};

// A position in an accepted value: an offset, and the index of the next container.
struct ValueCursor {
  std::string_view value;
  const std::vector<ValueNode>* nodes;
  size_t at = 0;
  size_t node = 0;

  shim::Tag tag() const { return static_cast<shim::Tag>(value[at]); }
  uint32_t count() const { return load<uint32_t>(value, at + 1); }
  std::string_view counted() const { return value.substr(at + 5, count()); }
  int64_t integer() const;  // at u or i
  const ValueNode& here() const { return (*nodes)[node]; }

  void enter();                   // behind tag and count of l t S Z D
  ArrayHead enter_array();        // at A; goes to its nested list
  void skip();                    // behind the whole item
  std::string_view item() const;  // the bytes of the whole item
};

}  // namespace runtime
