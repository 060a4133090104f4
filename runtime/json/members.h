#pragma once
// Objects of JSON by tables: a row tells how a member is called, whether it is always there, and
// how it is read. Readers of results use it; those of jobs share what reads single values. All
// leave the reason of a failure, and the path to it, with the JsonReader. Pure.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/json/json_reader.h"

namespace runtime {

// "a number from 1 to 8"
std::string range_of(int64_t min, int64_t max);
// A whole number of this range.
bool read_integer(JsonReader& in, int64_t min, int64_t max, int64_t& value);
// The index of a string among these names.
std::optional<size_t> read_choice(JsonReader& in, std::span<const std::string_view> names);

// Members are read by these, each by that of its type; more of them stand where the types are read.
bool read_json(JsonReader& in, bool& value);
bool read_json(JsonReader& in, double& value);  // a whole number is one, too
bool read_json(JsonReader& in, std::string& value);

// Any number of the type. What is longer than int64_t is written as int64_t, so it is read so.
template <std::integral T>
bool read_json(JsonReader& in, T& value) {
  using Bounds = std::numeric_limits<T>;
  constexpr bool kFits = sizeof(T) < sizeof(int64_t);
  constexpr int64_t kMin = kFits ? static_cast<int64_t>(Bounds::min()) : INT64_MIN;
  constexpr int64_t kMax = kFits ? static_cast<int64_t>(Bounds::max()) : INT64_MAX;
  int64_t number = 0;
  if (!read_integer(in, kMin, kMax, number)) return false;
  value = static_cast<T>(number);
  return true;
}

// Given: it is there.
template <typename T>
bool read_json(JsonReader& in, std::optional<T>& value) {
  return read_json(in, value.emplace());
}

// null: it is not there.
template <typename T>
bool read_or_null(JsonReader& in, std::optional<T>& value) {
  value.reset();
  return in.peek() == JsonReader::Type::kNull ? in.read_null() : read_json(in, value);
}

template <typename T>
bool read_list(JsonReader& in, std::vector<T>& items, size_t most = SIZE_MAX) {
  if (in.peek() != JsonReader::Type::kArray) return in.expected("a list");
  items.clear();
  in.open_array();
  while (in.next_item(items.empty())) {
    if (items.size() == most) return in.fail("more than " + std::to_string(most));
    if (!read_json(in, items.emplace_back())) return in.at_index(items.size() - 1);
  }
  return in.ok();
}

// One member of an object that is read into a T.
enum class Presence : uint8_t { kAlways, kSometimes };
template <typename T>
struct Member {
  std::string_view name;
  Presence presence = Presence::kSometimes;
  bool (*read)(JsonReader& in, T& into) = nullptr;
};

template <typename T, auto M>
bool read_member(JsonReader& in, T& into) {
  return read_json(in, into.*M);
}
template <typename T, auto M>
constexpr Member<T> always(std::string_view name) {
  return {name, Presence::kAlways, read_member<T, M>};
}
template <typename T, auto M>
constexpr Member<T> sometimes(std::string_view name) {
  return {name, Presence::kSometimes, read_member<T, M>};
}

// Which members of a table were given, by their index.
class GivenMembers {
 public:
  bool add(size_t index) {  // false: it is there already
    const uint64_t before = bits_;
    bits_ |= uint64_t{1} << index;
    return bits_ != before;
  }
  bool has(size_t index) const { return (bits_ >> index & 1) != 0; }

 private:
  uint64_t bits_ = 0;
};

// Those that are always there are there.
template <typename T>
bool has_required(JsonReader& in, std::span<const Member<T>> table, const GivenMembers& given) {
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].presence == Presence::kSometimes || given.has(i)) continue;
    in.fail("required");
    return in.at_member(table[i].name);
  }
  return true;
}

// Members that the table does not have are passed over: other versions may have more. They are
// checked to be JSON. Which ones are required is not looked at.
template <typename T>
bool read_given(JsonReader& in, std::span<const Member<T>> table, T& into, GivenMembers& given) {
  if (in.peek() != JsonReader::Type::kObject) return in.expected("an object");
  std::string key;
  in.open_object();
  for (bool first = true; in.next_key(first, key); first = false) {
    const auto row = std::ranges::find(table, std::string_view(key), &Member<T>::name);
    if (row == table.end()) {
      if (!in.skip()) return false;
      continue;
    }
    if (!given.add(static_cast<size_t>(row - table.begin()))) in.fail("given twice");
    if (!in.ok() || !row->read(in, into)) return in.at_member(row->name);
  }
  return in.ok();
}

template <typename T>
bool read_members(JsonReader& in, std::span<const Member<T>> table, T& into) {
  GivenMembers given;
  return read_given(in, table, into, given) && has_required(in, table, given);
}

template <typename T, size_t A, size_t B>
constexpr std::array<T, A + B> joined(const std::array<T, A>& a, const std::array<T, B>& b) {
  std::array<T, A + B> all{};
  std::ranges::copy(b, std::ranges::copy(a, all.begin()).out);
  return all;
}

// A value that another member tells as well must be told alike. `known` is JSON, `by` says where it
// is from.
bool disagrees(JsonReader& in, std::string_view name, std::string_view known, std::string_view by);
bool agrees(JsonReader& in, std::string_view name, int64_t said, int64_t known,
            std::string_view by);
bool agrees(JsonReader& in, std::string_view name, bool said, bool known, std::string_view by);

}  // namespace runtime
