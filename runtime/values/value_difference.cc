#include <algorithm>
#include <cmath>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "runtime/values/value_walk.h"

namespace runtime {

using shim::Tag;

namespace {

constexpr size_t kMaxKeyInPath = 64;

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// u and i are one type: both are int to the program.
bool is_int(Tag tag) { return tag == Tag::kSmall || tag == Tag::kInt; }

struct Entry {
  std::string_view key;
  ValueCursor value;
};

// Behind a dict's pairs, its entries by key bytes.
std::vector<Entry> sorted_entries(ValueCursor& dict) {
  const uint32_t count = dict.count();
  std::vector<Entry> entries;
  entries.reserve(count);
  dict.enter();
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view key = dict.item();
    dict.skip();
    entries.push_back({key, dict});
    dict.skip();
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.key < b.key; });
  return entries;
}

// Walks two accepted values side by side. `same` leaves both cursors behind the item, or leaves
// path_ at the first difference. Recursive; walk_value() has bounded the depth.
class Comparison {
 public:
  bool same(ValueCursor& a, ValueCursor& b) {
    if (is_int(a.tag()) && is_int(b.tag())) return advance(a, b, a.integer() == b.integer());
    if (a.tag() != b.tag()) return false;
    switch (a.tag()) {
      case Tag::kFloat:
        return advance(a, b, same_double(a, b, 1));
      case Tag::kComplex:
        return advance(a, b, same_double(a, b, 1) && same_double(a, b, 9));
      case Tag::kList:
      case Tag::kTuple:
        return same_items(a, b);
      case Tag::kDict:
        return same_dict(a, b);
      case Tag::kArray:
        return same_array(a, b);
      case Tag::kNone:
      case Tag::kTrue:
      case Tag::kFalse:
      case Tag::kSmall:
      case Tag::kInt:
      case Tag::kBigInt:
      case Tag::kStr:
      case Tag::kBytes:
      case Tag::kSet:
      case Tag::kFrozenSet:
        return advance(a, b, a.item() == b.item());
    }
    return false;
  }

  std::string path() && { return std::move(path_); }

 private:
  static bool advance(ValueCursor& a, ValueCursor& b, bool equal) {
    if (equal) {
      a.skip();
      b.skip();
    }
    return equal;
  }

  static bool same_double(const ValueCursor& a, const ValueCursor& b, size_t offset) {
    return same_number(load<double>(a.value, a.at + offset), load<double>(b.value, b.at + offset));
  }

  void push_index(size_t index) { path_ += '[' + std::to_string(index) + ']'; }

  void push_key(const ValueCursor& key) {
    std::string text;
    if (key.tag() == Tag::kStr) {
      append_json_string(utf8_head(key.counted(), kMaxKeyInPath), text);
    } else {
      append_json(key.item().substr(0, 4 * kMaxKeyInPath), false, text);
    }
    path_ += '[' + text + ']';
  }

  bool same_items(ValueCursor& a, ValueCursor& b) {
    const uint32_t count_a = a.count(), count_b = b.count();
    a.enter();
    b.enter();
    const size_t mark = path_.size();
    for (uint32_t i = 0; i < std::min(count_a, count_b); ++i) {
      if (is_same_small(a, b)) continue;
      push_index(i);
      if (!same(a, b)) return false;
      path_.resize(mark);
    }
    if (count_a == count_b) return true;
    push_index(std::min(count_a, count_b));
    return false;
  }

  // The common case of grids, without touching the path.
  static bool is_same_small(ValueCursor& a, ValueCursor& b) {
    return a.tag() == Tag::kSmall && b.tag() == Tag::kSmall &&
           advance(a, b, a.integer() == b.integer());
  }

  bool same_dict(ValueCursor& a, ValueCursor& b) {
    const std::vector<Entry> entries_a = sorted_entries(a);
    const std::vector<Entry> entries_b = sorted_entries(b);
    const size_t mark = path_.size();
    for (size_t i = 0; i < std::max(entries_a.size(), entries_b.size()); ++i) {
      if (i == entries_a.size()) return missing(entries_b[i], b);
      if (i == entries_b.size()) return missing(entries_a[i], a);
      if (entries_a[i].key < entries_b[i].key) return missing(entries_a[i], a);
      if (entries_b[i].key < entries_a[i].key) return missing(entries_b[i], b);
      ValueCursor value_a = entries_a[i].value, value_b = entries_b[i].value;
      push_key(key_of(entries_a[i], a));
      if (!same(value_a, value_b)) return false;
      path_.resize(mark);
    }
    return true;
  }

  static ValueCursor key_of(const Entry& entry, const ValueCursor& dict) {
    return {.value = dict.value,
            .nodes = dict.nodes,
            .at = static_cast<size_t>(entry.key.data() - dict.value.data()),
            .node = 0};
  }

  bool missing(const Entry& entry, const ValueCursor& dict) {
    push_key(key_of(entry, dict));
    return false;
  }

  bool same_array(ValueCursor& a, ValueCursor& b) {
    const ArrayHead head_a = a.enter_array(), head_b = b.enter_array();
    if (head_a.dtype != head_b.dtype || head_a.shape != head_b.shape) return false;
    return same(a, b);
  }

  std::string path_;
};

}  // namespace

std::optional<std::string> first_difference(std::string_view a, std::string_view b) {
  if (a == b) return std::nullopt;
  std::vector<ValueNode> nodes_a, nodes_b;
  if (walk_value(a, &nodes_a) != nullptr || walk_value(b, &nodes_b) != nullptr)
    return std::string();
  ValueCursor cursor_a{.value = a, .nodes = &nodes_a}, cursor_b{.value = b, .nodes = &nodes_b};
  Comparison comparison;
  if (comparison.same(cursor_a, cursor_b)) return std::nullopt;
  return std::move(comparison).path();
}

}  // namespace runtime
