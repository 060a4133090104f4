#include "runtime/json/json_reader.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"

namespace runtime {

namespace {

constexpr size_t kExcerpt = 40;

void append_utf8(uint32_t point, std::string& out) {
  const auto put = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0 | point >> 6);
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 63));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 63));
    put(0x80 | (point >> 6 & 63));
  }
  put(0x80 | (point & 63));
}

}  // namespace

JsonReader::JsonReader(std::string_view text)
    : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {
  const size_t good = valid_utf8_prefix(text);
  if (good == text.size()) return;
  at_ = begin_ + good;
  syntax("not UTF-8");
}

// ---- Failures

sys::Error JsonReader::error() const {
  const bool is_member = has_path_ && error_.starts_with('.');  // of the outermost object
  return sys::Error::because(is_member ? error_.substr(1) : error_);
}

bool JsonReader::fail(std::string message) {
  if (ok()) error_ = std::move(message);
  return false;
}

bool JsonReader::syntax(std::string_view what) {
  if (!ok()) return false;
  is_syntax_ = true;
  return fail("not JSON: byte " + std::to_string(at_ - begin_) + ": " + std::string(what));
}

bool JsonReader::expected(std::string_view what) {
  const Type type = peek();
  if (!ok()) return false;
  const char* start = at_;
  if (!skip()) return false;
  std::string got = type == Type::kArray ? "a list" : type == Type::kObject ? "an object" : "";
  if (got.empty()) {
    const std::string_view text(start, static_cast<size_t>(at_ - start));
    got = utf8_head(text, kExcerpt);
    if (got.size() < text.size()) got += "...";
  }
  return fail("expected " + std::string(what) + ", got " + got);
}

bool JsonReader::at_field(std::string_view path) {
  if (ok() || is_syntax_) return false;
  error_.insert(0, has_path_ ? std::string(path) : std::string(path) + ": ");
  has_path_ = true;
  return false;
}
bool JsonReader::at_member(std::string_view name) { return at_field('.' + std::string(name)); }
bool JsonReader::at_index(size_t index) { return at_field('[' + std::to_string(index) + ']'); }
bool JsonReader::at_key(std::string_view key) {
  std::string quoted = "[";
  append_json_string(utf8_head(key, kExcerpt), quoted);
  return at_field(quoted + ']');
}

// ---- Tokens

JsonReader::Type JsonReader::peek() {
  white_space();
  if (!ok()) return Type::kNone;
  if (at_ == end_) {
    syntax("ends too early");
    return Type::kNone;
  }
  switch (*at_) {
    case '{':
      return Type::kObject;
    case '[':
      return Type::kArray;
    case '"':
      return Type::kString;
    case 't':
    case 'f':
      return Type::kBoolean;
    case 'n':
      return Type::kNull;
    default:
      break;
  }
  if (*at_ == '-' || is_digit(*at_)) return Type::kNumber;
  if (*at_ == 'N' || *at_ == 'I') {
    syntax(R"(NaN and Infinity are written {"$type": "float", "value": "nan"})");
  } else {
    syntax("expected a value");
  }
  return Type::kNone;
}

bool JsonReader::take(char c) {
  white_space();
  if (!ok()) return false;
  if (at_ == end_) return syntax("ends too early");
  if (*at_ != c) return syntax(std::string("expected '") + c + "'");
  ++at_;
  return true;
}

bool JsonReader::word(std::string_view literal) {
  white_space();
  if (!ok()) return false;
  if (!std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(literal)) {
    return syntax("expected " + std::string(literal));
  }
  at_ += literal.size();
  return true;
}

bool JsonReader::read_boolean(bool& value) {
  value = peek() == Type::kBoolean && *at_ == 't';
  return word(value ? "true" : "false");
}

bool JsonReader::read_string(std::string& value) {
  value.clear();
  if (!take('"')) return false;
  while (true) {
    const char* run = at_;
    while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<uint8_t>(*at_) >= 0x20) ++at_;
    value.append(run, at_);
    if (at_ == end_) return syntax("a string without end");
    if (*at_ == '"') break;
    if (*at_ != '\\') return syntax("a control character inside a string");
    if (!escape(value)) return false;
  }
  ++at_;
  return true;
}

bool JsonReader::hex4(uint32_t& unit) {
  if (end_ - at_ < 4) return syntax("a string without end");
  const auto read = std::from_chars(at_, at_ + 4, unit, 16);
  if (read.ptr != at_ + 4) return syntax("expected four hexadecimal digits");
  at_ += 4;
  return true;
}

bool JsonReader::escape(std::string& value) {
  if (end_ - at_ < 2) return syntax("a string without end");
  const char kind = at_[1];
  constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (kind != 'u') {
    const size_t which = kLetters.find(kind);
    if (which == std::string_view::npos) return syntax("unknown escape");
    value += kMeanings[which];
    at_ += 2;
    return true;
  }
  at_ += 2;
  uint32_t unit = 0, low = 0;
  if (!hex4(unit)) return false;
  if (unit >= 0xDC00 && unit < 0xE000) return syntax("a lone surrogate");
  if (unit >= 0xD800 && unit < 0xDC00) {
    if (end_ - at_ < 6 || at_[0] != '\\' || at_[1] != 'u') return syntax("a lone surrogate");
    at_ += 2;
    if (!hex4(low)) return false;
    if (low < 0xDC00 || low >= 0xE000) return syntax("a lone surrogate");
    unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
  }
  append_utf8(unit, value);
  return true;
}

bool JsonReader::digits() {
  if (at_ == end_ || !is_digit(*at_)) return syntax("expected a digit");
  while (at_ != end_ && is_digit(*at_)) ++at_;
  return true;
}

bool JsonReader::read_number(Number& number) {
  white_space();
  if (!ok()) return false;
  const char* start = at_;
  const auto here = [this](char c) { return at_ != end_ && *at_ == c; };
  if (here('-')) ++at_;
  if (here('0')) {
    ++at_;
    if (at_ != end_ && is_digit(*at_)) return syntax("a number with a leading zero");
  } else if (!digits()) {
    return false;
  }
  bool real = false;
  if (here('.')) {
    real = true;
    ++at_;
    if (!digits()) return false;
  }
  if (here('e') || here('E')) {
    real = true;
    ++at_;
    if (here('+') || here('-')) ++at_;
    if (!digits()) return false;
  }
  const std::string_view token(start, static_cast<size_t>(at_ - start));
  if (real) return to_real(token, number);
  number.kind = Number::Kind::kInteger;
  if (std::from_chars(start, at_, number.integer).ec == std::errc()) return true;
  number.kind = Number::Kind::kBigInteger;
  number.digits = token;
  return true;
}

bool JsonReader::to_real(std::string_view token, Number& number) {
  number.kind = Number::Kind::kReal;
  const auto read = std::from_chars(token.data(), token.data() + token.size(), number.real);
  if (read.ec == std::errc()) return true;
  // Out of range is both too large and too small; only strtod() tells which.
  number.real = std::strtod(std::string(token).c_str(), nullptr);
  if (std::isfinite(number.real)) return true;
  return fail("number out of range: " + std::string(token.substr(0, kExcerpt)));
}

// ---- Structure

bool JsonReader::next_item(bool first) {
  white_space();
  if (!ok()) return false;
  if (at_ == end_) return syntax("ends too early");
  if (*at_ == ']') {
    ++at_;
    return false;
  }
  if (first) return true;
  if (*at_ != ',') return syntax("expected ',' or ']'");
  ++at_;
  white_space();
  return true;
}

bool JsonReader::next_key(bool first, std::string& key) {
  white_space();
  if (!ok()) return false;
  if (at_ == end_) return syntax("ends too early");
  if (*at_ == '}') {
    ++at_;
    return false;
  }
  if (!first) {
    if (*at_ != ',') return syntax("expected ',' or '}'");
    ++at_;
  }
  return read_string(key) && take(':');
}

bool JsonReader::skip_string(std::string* compact) {
  white_space();
  const char* start = at_;
  std::string text;
  if (!read_string(text)) return false;
  if (compact != nullptr) compact->append(start, at_);
  return true;
}

bool JsonReader::skip(std::string* compact, unsigned depth) {
  if (depth > kMaxDepth) return fail("nested too deep");
  const Type type = peek();
  if (!ok()) return false;
  const char* start = at_;
  const auto put = [compact](char c) {
    if (compact != nullptr) *compact += c;
  };
  if (type == Type::kString) return skip_string(compact);
  if (type == Type::kArray) {
    put('[');
    open_array();
    for (bool first = true; next_item(first); first = false) {
      if (!first) put(',');
      if (!skip(compact, depth + 1)) return false;
    }
    put(']');
    return ok();
  }
  if (type == Type::kObject) {
    put('{');
    open_object();
    for (bool first = true;; first = false) {
      std::string key;
      if (!next_key(first, key)) break;
      if (!first) put(',');
      if (compact != nullptr) append_json_string(key, *compact);
      put(':');
      if (!skip(compact, depth + 1)) return false;
    }
    put('}');
    return ok();
  }
  bool boolean = false;
  Number number;
  const bool good = type == Type::kNull      ? read_null()
                    : type == Type::kBoolean ? read_boolean(boolean)
                                             : read_number(number);
  if (good && compact != nullptr) compact->append(start, at_);
  return good;
}

bool JsonReader::finish() {
  white_space();
  if (!ok()) return false;
  return at_ == end_ || syntax("something behind the end");
}

struct JsonReader::Beside {
  Parts parts;
  std::vector<bool> taken;
};

void JsonReader::bring(Parts parts) {
  if (parts.empty()) return;
  std::vector<bool> taken(parts.size());
  beside_ = std::make_shared<Beside>(Beside{std::move(parts), std::move(taken)});
}

std::optional<std::string> JsonReader::take_part(int64_t index) {
  if (!beside_ || index < 0 || static_cast<size_t>(index) >= beside_->parts.size()) return {};
  const auto at = static_cast<size_t>(index);
  if (beside_->taken[at]) return std::nullopt;
  beside_->taken[at] = true;
  return std::move(beside_->parts[at]);
}

}  // namespace runtime
