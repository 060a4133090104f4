#pragma once
// A strict pull reader for JSON (RFC 8259) from callers we do not know: the text is read once, in
// order, straight into where it belongs; no tree is built. The first failure sticks, and carries
// the path at which it happened. Integers keep their digits. No I/O.
//
// Why not the library's parser: it builds a tree or calls back per token, and took five to ten
// times as long on a job of grids. The unit and fuzz tests hold this reader against it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/values/parts.h"
#include "sandbox/sys/result.h"

namespace runtime {

class JsonReader {
 public:
  enum class Type : uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject, kNone };
  static constexpr unsigned kMaxDepth = 200;

  // Checks that the whole of `text` is UTF-8; the views handed out later point into it.
  explicit JsonReader(std::string_view text);

  bool ok() const { return error_.empty(); }
  sys::Error error() const;

  // A failure of meaning at the value being read, and the path to it, told from the inside out
  // while the callers return. All return false.
  bool fail(std::string message);
  bool expected(std::string_view what);  // "expected WHAT, got ..."; the reader stands at the value
  bool at_index(size_t index);
  bool at_key(std::string_view key);     // of a caller's object: ["key"]
  bool at_field(std::string_view path);  // of our schema: limits.cpu_ms
  bool at_member(std::string_view name);  // of an object of our schema, wherever that lies

  Type peek();  // of the value that begins here; kNone at anything else

  // Each reads one value of its type. The caller has looked with peek().
  bool read_null() { return word("null"); }
  bool read_boolean(bool& value);
  bool read_string(std::string& value);  // replaces `value`
  struct Number {
    enum class Kind : uint8_t { kInteger, kBigInteger, kReal } kind = Kind::kInteger;
    int64_t integer = 0;
    double real = 0;
    std::string_view digits;  // of a big integer
  };
  bool read_number(Number& number);

  // for (bool first = true; reader.next_item(first); first = false) ...; and then look at ok().
  bool open_array() { return take('['); }
  bool next_item(bool first);
  bool open_object() { return take('{'); }
  bool next_key(bool first, std::string& key);

  // Checks any value and appends it, without the white space between tokens, to `compact` if given.
  bool skip(std::string* compact = nullptr, unsigned depth = 0);

  // Nothing but white space is left.
  bool finish();

  // The parts that came beside the text: bytes that are no JSON.
  void bring(Parts parts);
  // The part of this number, which is then no more: each is used once. Nothing: there is none.
  std::optional<std::string> take_part(int64_t index);

  // A grid's cell: one or two digits and the comma or bracket behind them, taken without ceremony.
  // False, and nothing taken, when something else is there.
  bool take_small_integer(int& value) {
    const char* p = at_;
    if (end_ - p < 2 || *p < '0' || *p > '9' || (p[1] != ',' && p[1] != ']')) return false;
    value = *p - '0';
    ++at_;
    return true;
  }

 private:
  bool syntax(std::string_view what);
  bool take(char c);
  bool word(std::string_view literal);
  void white_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool digits();
  bool escape(std::string& value);
  bool hex4(uint32_t& unit);
  bool skip_string(std::string* compact);
  bool to_real(std::string_view token, Number& number);

  const char* begin_;
  const char* at_;
  const char* end_;
  std::string error_;
  bool has_path_ = false;
  bool is_syntax_ = false;
  struct Beside;
  std::shared_ptr<Beside> beside_;  // of all copies: a look ahead costs no copy of it
};

}  // namespace runtime
