#include <algorithm>
#include <cmath>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "runtime/values/value_walk.h"

namespace runtime {

using shim::Tag;

namespace {

constexpr size_t kMaxKeyInPath = 64;

bool same_number(double a, double b, bool signs_of_zero) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && (!signs_of_zero || std::signbit(a) == std::signbit(b));
}

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
// found_ at the first difference. Recursive; walk_value() has bounded the depth.
class Comparison {
 public:
  explicit Comparison(Sameness how) : how_(how) {}

  bool same(ValueCursor& a, ValueCursor& b) {
    if (how_.arrays_as_lists) enter_arrays(a, b);
    if (is_int(a.tag()) && is_int(b.tag())) return settle(a, b, a.integer() == b.integer());
    if (a.tag() != b.tag()) return settle(a, b, false);
    switch (a.tag()) {
      case Tag::kFloat:
        return settle(a, b, same_double(a, b, 1));
      case Tag::kComplex:
        return settle(a, b, same_double(a, b, 1) && same_double(a, b, 9));
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
        return settle(a, b, a.item() == b.item());
    }
    return false;
  }

  ValueDifference found() && {
    found_.path = std::move(path_);
    return std::move(found_);
  }

 private:
  static void enter_arrays(ValueCursor& a, ValueCursor& b) {
    if (a.tag() == Tag::kArray) a.enter_array();
    if (b.tag() == Tag::kArray) b.enter_array();
  }

  static bool advance(ValueCursor& a, ValueCursor& b, bool equal) {
    if (equal) {
      a.skip();
      b.skip();
    }
    return equal;
  }

  // What is not equal differs here.
  bool settle(ValueCursor& a, ValueCursor& b, bool equal) {
    if (!equal) found_.a = a.item(), found_.b = b.item();
    return advance(a, b, equal);
  }

  bool same_double(const ValueCursor& a, const ValueCursor& b, size_t offset) const {
    return same_number(load<double>(a.value, a.at + offset), load<double>(b.value, b.at + offset),
                       how_.signs_of_zero);
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
    if (count_a > count_b) found_.a = a.item();
    if (count_b > count_a) found_.b = b.item();
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
      const bool a_is_first =
          i == entries_b.size() || (i < entries_a.size() && entries_a[i].key < entries_b[i].key);
      const bool b_is_first =
          i == entries_a.size() || (!a_is_first && entries_b[i].key < entries_a[i].key);
      if (a_is_first) return only_in_one(entries_a[i], a, found_.a);
      if (b_is_first) return only_in_one(entries_b[i], b, found_.b);
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

  bool only_in_one(const Entry& entry, const ValueCursor& dict,
                   std::optional<std::string_view>& side) {
    push_key(key_of(entry, dict));
    side = entry.value.item();
    return false;
  }

  bool same_array(ValueCursor& a, ValueCursor& b) {
    ValueCursor whole_a = a, whole_b = b;
    const ArrayHead head_a = a.enter_array(), head_b = b.enter_array();
    if (head_a.dtype != head_b.dtype || head_a.shape != head_b.shape)
      return settle(whole_a, whole_b, false);
    return same(a, b);
  }

  const Sameness how_;
  std::string path_;
  ValueDifference found_;
};

}  // namespace

std::optional<ValueDifference> difference(std::string_view a, std::string_view b, Sameness how) {
  if (a == b) return std::nullopt;
  std::vector<ValueNode> nodes_a, nodes_b;
  if (walk_value(a, &nodes_a) != nullptr || walk_value(b, &nodes_b) != nullptr)
    return ValueDifference{};  // of malformed bytes nothing can be shown
  ValueCursor cursor_a{.value = a, .nodes = &nodes_a}, cursor_b{.value = b, .nodes = &nodes_b};
  Comparison comparison(how);
  if (comparison.same(cursor_a, cursor_b)) return std::nullopt;
  return std::move(comparison).found();
}

std::optional<std::string> first_difference(std::string_view a, std::string_view b) {
  auto found = difference(a, b, {});
  if (!found) return std::nullopt;
  return std::move(found->path);
}

}  // namespace runtime
