// The tagged forms: what JSON cannot say, read back as results write it.

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "runtime/json/array_data.h"
#include "runtime/json/converter.h"
#include "runtime/values/json_text.h"

namespace runtime {

using shim::Tag;
using Type = JsonReader::Type;
using Number = JsonReader::Number;

Hash Converter::tagged(unsigned depth) {
  if (in_.peek() != Type::kString) return failed(in_.expected("a type name"));
  std::string type;
  if (!in_.read_string(type)) return Hash::kImpossible;
  if (type == "bytes") return bytes();
  if (type == "float") return only("value", [this] { return special_float(); });
  if (type == "complex") return complex(depth);
  if (type == "tuple") return only("items", [&] { return list_of(Tag::kTuple, depth); });
  if (type == "set") return only("items", [&] { return list_of(Tag::kSet, depth); });
  if (type == "frozenset") return only("items", [&] { return list_of(Tag::kFrozenSet, depth); });
  if (type == "dict") return only("items", [&] { return pairs(depth); });
  if (type == "ndarray") return array(depth);
  std::string quoted;
  append_json_string(type, quoted);
  return failed(in_.fail("unknown $type " + quoted));
}

// The rest of a tagged object that has one more field.
template <typename Read>
Hash Converter::only(std::string_view field, Read read) {
  std::string key;
  if (!in_.next_key(false, key) || key != field) return missing(field);
  const Hash hash = read();
  if (!in_.ok()) return failed(in_.at_key(field));
  if (in_.next_key(false, key)) in_.fail("unknown key in a tagged value: " + key);
  return hash;
}

Hash Converter::missing(std::string_view fields) {
  return failed(in_.fail("a tagged value has, behind its $type, " + std::string(fields)));
}

Hash Converter::list_of(Tag kind, unsigned depth) {
  if (in_.peek() != Type::kArray) return failed(in_.expected("a list"));
  return kind == Tag::kTuple || !is_input() ? items(kind, depth) : set_of(kind, depth);
}

Hash Converter::set_of(Tag kind, unsigned depth) {
  const size_t mark = out_.open(kind);
  std::vector<Span> spans;
  uint32_t count = 0;
  in_.open_array();
  for (; in_.next_item(count == 0); ++count) {
    const size_t begin = out_.size();
    if (value(depth + 1) == Hash::kImpossible) in_.fail("a set holds hashable values only");
    if (!in_.ok()) return failed(in_.at_index(count));
    spans.push_back({begin, out_.size() - begin});
  }
  out_.close(mark, count);
  if (has_repeats(spans)) in_.fail("the same value twice");
  sort_items(mark + sizeof count, spans);
  return kind == Tag::kFrozenSet ? Hash::kPossible : Hash::kImpossible;
}

void Converter::sort_items(size_t begin, const std::vector<Span>& spans) {
  const std::string items(out_.since(begin));
  std::vector<std::string_view> views;
  for (const Span& span : spans) {
    views.push_back(std::string_view(items).substr(span.begin - begin, span.size));
  }
  std::sort(views.begin(), views.end());
  out_.truncate(begin);
  for (std::string_view view : views) out_.raw(view);
}

Hash Converter::bytes() {
  std::string key;
  if (!in_.next_key(false, key) || (key != "data" && key != "part")) return missing("data");
  key == "data" ? base64() : part_of_stream();
  if (!in_.ok()) return failed(in_.at_key(key));
  if (in_.next_key(false, key)) in_.fail("unknown key in a tagged value: " + key);
  return Hash::kPossible;
}

void Converter::base64() {
  if (in_.peek() != Type::kString) return void(in_.expected("base64"));
  std::string raw;
  in_.read_string(text_);
  if (!append_from_base64(text_, raw)) in_.fail("not base64");
  out_.bytes(raw);
}

void Converter::part_of_stream() {
  Number number;
  if (in_.peek() != Type::kNumber) return void(in_.expected("the number of a part"));
  if (!in_.read_number(number)) return;
  const bool whole = number.kind == Number::Kind::kInteger;
  const auto part = whole ? in_.take_part(number.integer) : std::nullopt;
  if (!part) return void(in_.fail("no such part, or used before"));
  out_.bytes(*part);
}

Hash Converter::special_float() {
  constexpr std::string_view kForms = R"("nan", "inf" or "-inf")";
  if (in_.peek() != Type::kString) return failed(in_.expected(kForms));
  in_.read_string(text_);
  using limits = std::numeric_limits<double>;
  if (text_ == "nan") {
    out_.number(limits::quiet_NaN());
  } else if (text_ == "inf") {
    out_.number(limits::infinity());
  } else if (text_ == "-inf") {
    out_.number(-limits::infinity());
  } else {
    in_.fail("expected " + std::string(kForms));
  }
  return Hash::kPossible;
}

Hash Converter::complex(unsigned depth) {
  constexpr std::string_view kFields = R"("real" and "imag")";
  double parts[2] = {0, 0};
  bool given[2] = {false, false};
  std::string key;
  while (in_.next_key(false, key)) {
    const size_t which = key == "real" ? 0 : 1;
    if ((key != "real" && key != "imag") || given[which]) return missing(kFields);
    given[which] = true;
    parts[which] = part(depth + 1);
    if (!in_.ok()) return failed(in_.at_key(key));
  }
  if (!given[0] || !given[1]) return missing(kFields);
  out_.complex(parts[0], parts[1]);
  return Hash::kPossible;
}

// A number, or a tagged float.
double Converter::part(unsigned depth) {
  if (in_.peek() == Type::kNumber) {
    Number number;
    in_.read_number(number);
    if (number.kind == Number::Kind::kBigInteger) in_.fail("number out of range");
    const bool whole = number.kind == Number::Kind::kInteger;
    return whole ? static_cast<double>(number.integer) : number.real;
  }
  Writer scratch;
  double real = 0;
  Converter(in_, scratch, of_).value(depth);
  const std::string_view encoded = scratch.since(0);
  if (encoded.size() != 9 || encoded.front() != static_cast<char>(Tag::kFloat)) {
    in_.fail("expected a number");
  } else {
    std::memcpy(&real, encoded.data() + 1, sizeof real);
  }
  return real;
}

Hash Converter::pairs(unsigned depth) {
  if (in_.peek() != Type::kArray) return failed(in_.expected("a list of pairs"));
  const size_t mark = out_.open(Tag::kDict);
  std::vector<Span> keys;
  uint32_t count = 0;
  in_.open_array();
  for (; in_.next_item(count == 0); ++count) {
    if (in_.peek() != Type::kArray) in_.expected("a pair");
    if (in_.ok()) keys.push_back(pair(depth));
    if (!in_.ok()) return failed(in_.at_index(count));
  }
  out_.close(mark, count);
  if (has_repeats(keys)) in_.fail("the same key twice");
  return Hash::kImpossible;
}

Converter::Span Converter::pair(unsigned depth) {
  const size_t begin = out_.size();
  size_t key_size = 0;
  uint32_t count = 0;
  in_.open_array();
  for (; in_.next_item(count == 0); ++count) {
    const Hash hash = value(depth + 1);
    if (count > 0) continue;
    key_size = out_.size() - begin;
    if (is_input() && hash == Hash::kImpossible) in_.fail("a key must be hashable");
  }
  if (count != 2) in_.fail("expected a key and a value");
  return {begin, key_size};
}

// The fields may come in any order. Data behind the others, as results have it, is written where it
// belongs.
Hash Converter::array(unsigned depth) {
  constexpr std::string_view kFields = R"("dtype", "shape" and "data")";
  enum : unsigned { kUnknown = 0, kDtype = 1, kShape = 2, kData = 4, kAll = 7 };
  std::string key, dtype, early;
  std::vector<int64_t> dimensions;
  size_t begin = 0;  // of the data
  unsigned given = 0;
  while (in_.next_key(false, key)) {
    const unsigned field = key == "dtype"   ? kDtype
                           : key == "shape" ? kShape
                           : key == "data"  ? kData
                                            : kUnknown;
    if (field == kUnknown || (given & field) != 0) return missing(kFields);
    given |= field;
    if (field == kDtype) {
      in_.peek() == Type::kString ? in_.read_string(dtype) : in_.expected("a dtype name");
    } else if (field == kShape) {
      dimensions = shape();
    } else if (given == kAll) {
      begin = array_head(dtype, dimensions);
      value(depth + 1);
    } else {
      Writer writer;
      Converter(in_, writer, of_).value(depth + 1);
      early = writer.take();
    }
    if (!in_.ok()) return failed(in_.at_key(key));
  }
  if (given != kAll) return missing(kFields);
  if (!in_.ok()) return Hash::kImpossible;
  if (begin == 0) {
    begin = array_head(dtype, dimensions);
    out_.raw(early);
  }
  const char* wrong =
      is_input() ? objection_to_array(dtype, dimensions, out_.since(begin)) : nullptr;
  return wrong == nullptr ? Hash::kImpossible : failed(in_.fail(wrong));
}

// The position behind it.
size_t Converter::array_head(std::string_view dtype, const std::vector<int64_t>& dimensions) {
  out_.array();
  out_.text(dtype);
  out_.container(Tag::kList, static_cast<uint32_t>(dimensions.size()));
  for (int64_t dimension : dimensions) out_.integer(dimension);
  return out_.size();
}

std::vector<int64_t> Converter::shape() {
  const size_t most = is_input() ? kMaxInputDimensions : kMaxDimensions;
  std::vector<int64_t> shape;
  if (in_.peek() != Type::kArray) {
    in_.expected("a list of integers");
    return shape;
  }
  in_.open_array();
  while (in_.next_item(shape.empty())) {
    Number number;
    if (in_.peek() != Type::kNumber) in_.expected("an integer");
    if (in_.ok()) in_.read_number(number);
    const bool whole = number.kind == Number::Kind::kInteger && number.integer >= 0;
    if (!whole || shape.size() == most) in_.fail("not a shape");
    shape.push_back(number.integer);
  }
  return shape;
}

}  // namespace runtime
