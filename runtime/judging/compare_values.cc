// Values of calls, compared with their types.

#include <algorithm>

#include "runtime/judging/compare.h"
#include "runtime/values/utf8.h"
#include "runtime/values/value.h"
#include "runtime/values/value_walk.h"

namespace runtime {

namespace {

using shim::Tag;

constexpr size_t kValueShown = 80, kTypeShown = 60, kContext = 20;  // bytes

std::string array_type(ValueCursor array) {
  const ArrayHead head = array.enter_array();
  std::string name = "ndarray of " + std::string(head.dtype) + ", shape [";
  for (size_t i = 0; i < head.shape.size(); ++i)
    name += (i > 0 ? ", " : "") + std::to_string(head.shape[i]);
  name += ']';
  return std::string(utf8_head(name, kTypeShown));
}

// As Python calls it.
std::string type_of(std::string_view item) {
  const ValueCursor value{.value = item, .nodes = nullptr};
  switch (value.tag()) {
    case Tag::kNone:
      return "None";
    case Tag::kTrue:
    case Tag::kFalse:
      return "bool";
    case Tag::kSmall:
    case Tag::kInt:
    case Tag::kBigInt:
      return "int";
    case Tag::kFloat:
      return "float";
    case Tag::kComplex:
      return "complex";
    case Tag::kStr:
      return "str";
    case Tag::kBytes:
      return "bytes";
    case Tag::kList:
      return "list";
    case Tag::kTuple:
      return "tuple";
    case Tag::kSet:
      return "set";
    case Tag::kFrozenSet:
      return "frozenset";
    case Tag::kDict:
      return "dict";
    case Tag::kArray:
      return array_type(value);
  }
  return "value";
}

std::string json_of(std::string_view item, bool arrays_as_lists) {
  std::string json;
  append_json(item, arrays_as_lists, json);
  return json;
}

// From shortly before a byte at which it differs from another, where that is far from the
// beginning.
std::string part_around(const std::string& json, size_t differs_at) {
  size_t from = differs_at + kContext < kValueShown ? 0 : differs_at - kContext;
  while (from > 0 && (static_cast<unsigned char>(json[from]) & 0xC0) == 0x80) --from;
  const std::string_view rest = std::string_view(json).substr(from);
  std::string text = from > 0 ? "..." : "";
  text += utf8_head(rest, kValueShown);
  return rest.size() > kValueShown ? text + "..." : text;
}

}  // namespace

std::optional<Mismatch> compare_exact_values(std::string_view expected, std::string_view got,
                                             bool arrays_as_lists) {
  const Sameness how{.signs_of_zero = true, .arrays_as_lists = arrays_as_lists};
  auto found = difference(expected, got, how);
  if (!found) return std::nullopt;
  Mismatch mismatch{found->path.empty() ? "the value" : std::move(found->path), "missing",
                    "missing"};
  const std::string a = found->a ? json_of(*found->a, arrays_as_lists) : "";
  const std::string b = found->b ? json_of(*found->b, arrays_as_lists) : "";
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto differs_at = static_cast<size_t>(in_a - a.begin());
  if (found->a) mismatch.expected = part_around(a, differs_at);
  if (found->b) mismatch.got = part_around(b, differs_at);
  if (!found->a || !found->b) return mismatch;
  const std::string type_a = type_of(*found->a), type_b = type_of(*found->b);
  if (type_a != type_b) {
    mismatch.expected += " (" + type_a + ')';
    mismatch.got += " (" + type_b + ')';
  }
  return mismatch;
}

}  // namespace runtime
