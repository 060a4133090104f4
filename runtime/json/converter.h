#pragma once
// Converter: one JSON value to the value format, in one pass and without a tree. Internal to
// job_value and result_reader. Plain JSON is in converter.cc, the tagged forms in
// converter_tagged.cc.

#include <string>
#include <string_view>
#include <vector>

#include "runtime/json/json_reader.h"
#include "runtime/values/value.h"
#include "runtime/values/value_walk.h"

namespace runtime {

// Tells whether Python can hash a value, which it must of a member of a set and of a dict's key. A
// child that had to refuse an input would be our fault, so it is the job that is refused, here.
enum class Hash : uint8_t { kPossible, kImpossible };

// An input is for Python, which must be able to make the value. The value of a result comes from a
// program that may have written any bytes of the format: sets of what cannot be hashed, keys twice,
// arrays that no numpy has. All that the writer of results makes of them is read, in its order.
enum class ValueOf : uint8_t { kInput, kResult };

class Converter {
 public:
  Converter(JsonReader& in, Writer& out, ValueOf of = ValueOf::kInput)
      : in_(in), out_(out), of_(of) {}

  // Appends one value. After a failure the reader is not ok() and the result means nothing.
  Hash value(unsigned depth);

 private:
  struct Span {  // of out_
    size_t begin, size;
  };

  // The request wraps inputs in lists of its own, and the whole stays within the format's depth.
  static constexpr unsigned kMaxInputDepth = shim::kMaxValueDepth - 8;
  static constexpr size_t kMaxInputDimensions = 32;
  // In the deepest container there may be a complex, an object, of floats that are objects.
  static constexpr unsigned kMaxResultDepth = kMaxContainers + 2;

  static Hash failed(bool) { return Hash::kImpossible; }
  bool is_input() const { return of_ == ValueOf::kInput; }
  bool too_deep(unsigned depth) {
    return depth >= (is_input() ? kMaxInputDepth : kMaxResultDepth) && !in_.fail("nested too deep");
  }
  bool has_repeats(const std::vector<Span>& spans) const;

  Hash boolean();
  Hash number();
  Hash string();
  Hash items(shim::Tag kind, unsigned depth);  // of a JSON list: a list or tuple
  Hash object(unsigned depth);

  // The reader stands at the value of "$type".
  Hash tagged(unsigned depth);
  template <typename Read>
  Hash only(std::string_view field, Read read);
  Hash missing(std::string_view fields);
  Hash list_of(shim::Tag kind, unsigned depth);
  Hash set_of(shim::Tag kind, unsigned depth);
  void sort_items(size_t begin, const std::vector<Span>& spans);
  Hash bytes();
  void base64();
  void part_of_stream();
  Hash special_float();
  Hash complex(unsigned depth);
  double part(unsigned depth);
  Hash pairs(unsigned depth);
  Span pair(unsigned depth);
  Hash array(unsigned depth);
  size_t array_head(std::string_view dtype, const std::vector<int64_t>& dimensions);
  std::vector<int64_t> shape();

  JsonReader& in_;
  Writer& out_;
  const ValueOf of_;
  std::string text_;
};

}  // namespace runtime
