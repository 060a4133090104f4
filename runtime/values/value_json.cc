#include <cmath>

#include "runtime/values/json_text.h"
#include "runtime/values/parts.h"
#include "runtime/values/value_walk.h"

namespace runtime {

using shim::Tag;

namespace {

// Writes one accepted value. Recursive; walk_value() has bounded the depth.
class ValueJson {
 public:
  ValueJson(ValueCursor cursor, bool arrays_as_lists, std::string& out,
            std::vector<std::string_view>* parts)
      : in_(cursor), arrays_as_lists_(arrays_as_lists), out_(out), parts_(parts) {}

  void item() {
    switch (in_.tag()) {
      case Tag::kNone:
        return word("null");
      case Tag::kTrue:
        return word("true");
      case Tag::kFalse:
        return word("false");
      case Tag::kSmall:
      case Tag::kInt:
        append_json_integer(in_.integer(), out_);
        return in_.skip();
      case Tag::kBigInt:
        out_ += in_.counted();
        return in_.skip();
      case Tag::kFloat:
        number(load<double>(in_.value, in_.at + 1));
        return in_.skip();
      case Tag::kComplex:
        return complex();
      case Tag::kStr:
        append_json_string(in_.counted(), out_);
        return in_.skip();
      case Tag::kBytes:
        return bytes();
      case Tag::kList:
        return items();
      case Tag::kTuple:
        return tagged_items("tuple");
      case Tag::kSet:
        return tagged_items("set");
      case Tag::kFrozenSet:
        return tagged_items("frozenset");
      case Tag::kDict:
        return in_.here().plain_keys ? object() : pairs();
      case Tag::kArray:
        return array();
    }
  }

 private:
  void word(const char* text) {
    out_ += text;
    in_.skip();
  }

  void number(double value) {
    if (std::isfinite(value)) return append_json_double(value, out_);
    out_ += R"({"$type":"float","value":")";
    out_ += std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    out_ += "\"}";
  }

  void complex() {
    out_ += R"({"$type":"complex","real":)";
    number(load<double>(in_.value, in_.at + 1));
    out_ += ",\"imag\":";
    number(load<double>(in_.value, in_.at + 9));
    out_ += '}';
    in_.skip();
  }

  void bytes() {
    if (parts_ && in_.counted().size() >= kLeastPart && parts_->size() < kMaxParts) return part();
    out_ += R"({"$type":"bytes","data":")";
    append_base64(in_.counted(), out_);
    out_ += "\"}";
    in_.skip();
  }

  void part() {
    out_ += R"({"$type":"bytes","part":)";
    append_json_integer(static_cast<int64_t>(parts_->size()), out_);
    out_ += '}';
    parts_->push_back(in_.counted());
    in_.skip();
  }

  // The cells of grids, without ceremony.
  void small() {
    const auto value = static_cast<uint8_t>(in_.value[in_.at + 1]);
    in_.at += 2;
    value < 10 ? out_.push_back(static_cast<char>('0' + value)) : append_json_integer(value, out_);
  }

  void items() {
    const uint32_t count = in_.count();
    in_.enter();
    out_ += '[';
    for (uint32_t i = 0; i < count; ++i) {
      if (i > 0) out_ += ',';
      in_.tag() == Tag::kSmall ? small() : item();
    }
    out_ += ']';
  }

  void tagged_items(const char* type) {
    out_ += "{\"$type\":\"";
    out_ += type;
    out_ += "\",\"items\":";
    items();
    out_ += '}';
  }

  void object() {
    const uint32_t count = in_.count();
    in_.enter();
    out_ += '{';
    for (uint32_t i = 0; i < count; ++i) {
      if (i > 0) out_ += ',';
      item();
      out_ += ':';
      item();
    }
    out_ += '}';
  }

  void pairs() {
    const uint32_t count = in_.count();
    in_.enter();
    out_ += R"({"$type":"dict","items":[)";
    for (uint32_t i = 0; i < count; ++i) {
      out_ += i > 0 ? ",[" : "[";
      item();
      out_ += ',';
      item();
      out_ += ']';
    }
    out_ += "]}";
  }

  void array() {
    const ArrayHead head = in_.enter_array();
    if (arrays_as_lists_) return item();
    out_ += R"({"$type":"ndarray","dtype":)";
    append_json_string(head.dtype, out_);
    out_ += ",\"shape\":[";
    for (size_t i = 0; i < head.shape.size(); ++i) {
      if (i > 0) out_ += ',';
      append_json_integer(head.shape[i], out_);
    }
    out_ += "],\"data\":";
    item();
    out_ += '}';
  }

  ValueCursor in_;
  bool arrays_as_lists_;
  std::string& out_;
  std::vector<std::string_view>* parts_;
};

}  // namespace

void append_json(std::string_view value, bool arrays_as_lists, std::string& out,
                 std::vector<std::string_view>* parts) {
  std::vector<ValueNode> nodes;
  if (walk_value(value, &nodes) != nullptr) {
    out += "null";
    return;
  }
  ValueJson({.value = value, .nodes = &nodes}, arrays_as_lists, out, parts).item();
}

// The items of a value stand one behind the other, whatever contains them.
size_t bytes_in_parts(std::string_view value) {
  if (value.size() < kLeastPart || walk_value(value, nullptr) != nullptr) return 0;
  size_t bytes = 0, parts = 0;
  for (size_t at = 0; at < value.size();) {
    const ValueCursor item{.value = value, .nodes = nullptr, .at = at};
    switch (item.tag()) {
      case Tag::kNone:
      case Tag::kTrue:
      case Tag::kFalse:
      case Tag::kArray:
        at += 1;
        break;
      case Tag::kSmall:
        at += 2;
        break;
      case Tag::kInt:
      case Tag::kFloat:
        at += 9;
        break;
      case Tag::kComplex:
        at += 17;
        break;
      case Tag::kBytes:
        if (item.count() >= kLeastPart && parts++ < kMaxParts) bytes += item.count();
        [[fallthrough]];
      case Tag::kBigInt:
      case Tag::kStr:
        at += 5 + item.count();
        break;
      case Tag::kList:
      case Tag::kTuple:
      case Tag::kSet:
      case Tag::kFrozenSet:
      case Tag::kDict:
        at += 5;
        break;
    }
  }
  return bytes;
}

}  // namespace runtime
