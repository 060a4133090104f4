#include "runtime/json/converter.h"

#include <algorithm>

namespace runtime {

using shim::Tag;
using Type = JsonReader::Type;
using Number = JsonReader::Number;

bool Converter::has_repeats(const std::vector<Span>& spans) const {
  if (!is_input() || spans.size() < 2) return false;
  std::vector<std::string_view> views;
  views.reserve(spans.size());
  for (const Span& span : spans) views.push_back(out_.since(span.begin).substr(0, span.size));
  std::sort(views.begin(), views.end());
  return std::adjacent_find(views.begin(), views.end()) != views.end();
}

Hash Converter::value(unsigned depth) {
  switch (in_.peek()) {
    case Type::kNull:
      out_.none();
      return in_.read_null() ? Hash::kPossible : Hash::kImpossible;
    case Type::kBoolean:
      return boolean();
    case Type::kNumber:
      return number();
    case Type::kString:
      return string();
    case Type::kArray:
      return items(Tag::kList, depth);
    case Type::kObject:
      return object(depth);
    case Type::kNone:
      break;
  }
  return Hash::kImpossible;
}

Hash Converter::boolean() {
  bool value = false;
  in_.read_boolean(value);
  out_.boolean(value);
  return Hash::kPossible;
}

Hash Converter::string() {
  in_.read_string(text_);
  out_.text(text_);
  return Hash::kPossible;
}

Hash Converter::number() {
  Number number;
  if (!in_.read_number(number)) return Hash::kImpossible;
  switch (number.kind) {
    case Number::Kind::kInteger:
      out_.integer(number.integer);
      break;
    case Number::Kind::kReal:
      out_.number(number.real);
      break;
    case Number::Kind::kBigInteger:
      if (number.digits.size() - number.digits.starts_with('-') > shim::kMaxIntegerDigits) {
        in_.fail("an integer of more than " + std::to_string(shim::kMaxIntegerDigits) + " digits");
      }
      out_.big_integer(number.digits);
  }
  return Hash::kPossible;
}

Hash Converter::items(Tag kind, unsigned depth) {
  if (too_deep(depth)) return Hash::kImpossible;
  const size_t mark = out_.open(kind);
  uint32_t count = 0;
  Hash all = Hash::kPossible;
  in_.open_array();
  for (; in_.next_item(count == 0); ++count) {
    if (int small = 0; in_.take_small_integer(small)) {
      out_.integer(small);
      continue;
    }
    if (value(depth + 1) == Hash::kImpossible) all = Hash::kImpossible;
    if (!in_.ok()) return failed(in_.at_index(count));
  }
  out_.close(mark, count);
  return kind == Tag::kTuple ? all : Hash::kImpossible;
}

Hash Converter::object(unsigned depth) {
  if (too_deep(depth)) return Hash::kImpossible;
  const size_t start = out_.size();
  const size_t mark = out_.open(Tag::kDict);
  std::vector<Span> keys;
  uint32_t count = 0;
  std::string key;
  in_.open_object();
  for (; in_.next_key(count == 0, key); ++count) {
    if (key == "$type") {
      if (count > 0) return failed(in_.fail("\"$type\" must be the first key of its object"));
      out_.truncate(start);
      return tagged(depth);
    }
    keys.push_back({out_.size(), key.size() + 5});
    out_.text(key);
    value(depth + 1);
    if (!in_.ok()) return failed(in_.at_key(key));
  }
  out_.close(mark, count);
  if (has_repeats(keys)) in_.fail("the same key twice");
  return Hash::kImpossible;
}

}  // namespace runtime
