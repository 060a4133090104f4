#include <cmath>

#include "runtime/json_text.h"
#include "runtime/value_walk.h"

namespace runtime {

using shim::Tag;

namespace {

// Writes one accepted value. Recursive; walk_value() has bounded the depth.
class ValueJson {
 public:
  ValueJson(ValueCursor cursor, bool arrays_as_lists, std::string& out)
      : in_(cursor), arrays_as_lists_(arrays_as_lists), out_(out) {}

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
    out_ += R"({"$type":"bytes","data":")";
    append_base64(in_.counted(), out_);
    out_ += "\"}";
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
};

}  // namespace

void append_json(std::string_view value, bool arrays_as_lists, std::string& out) {
  std::vector<ValueNode> nodes;
  if (walk_value(value, &nodes) != nullptr) {
    out += "null";
    return;
  }
  ValueJson({.value = value, .nodes = &nodes}, arrays_as_lists, out).item();
}

}  // namespace runtime
