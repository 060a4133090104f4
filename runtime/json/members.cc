#include "runtime/json/members.h"

#include "runtime/values/json_text.h"

namespace runtime {

using Type = JsonReader::Type;
using Number = JsonReader::Number;

std::string range_of(int64_t min, int64_t max) {
  return "a number from " + std::to_string(min) + " to " + std::to_string(max);
}

bool read_integer(JsonReader& in, int64_t min, int64_t max, int64_t& value) {
  if (in.peek() != Type::kNumber) return in.expected("an integer");
  const JsonReader before = in;
  Number number;
  if (!in.read_number(number)) return false;
  value = number.integer;
  if (number.kind == Number::Kind::kInteger && value >= min && value <= max) return true;
  in = before;
  return in.expected(number.kind == Number::Kind::kReal ? "an integer" : range_of(min, max));
}

std::optional<size_t> read_choice(JsonReader& in, std::span<const std::string_view> names) {
  const JsonReader before = in;
  std::string name;
  if (in.peek() == Type::kString && !in.read_string(name)) return std::nullopt;
  const auto found = std::ranges::find(names, name);
  if (in.ok() && found != names.end()) return static_cast<size_t>(found - names.begin());
  in = before;
  std::string all;
  for (std::string_view each : names)
    all += (all.empty() ? "\"" : ", \"") + std::string(each) + '"';
  in.expected("one of " + all);
  return std::nullopt;
}

bool read_json(JsonReader& in, bool& value) {
  return in.peek() == Type::kBoolean ? in.read_boolean(value) : in.expected("true or false");
}

bool read_json(JsonReader& in, double& value) {
  if (in.peek() != Type::kNumber) return in.expected("a number");
  const JsonReader before = in;
  Number number;
  if (!in.read_number(number)) return false;
  const bool whole = number.kind == Number::Kind::kInteger;
  value = whole ? static_cast<double>(number.integer) : number.real;
  if (number.kind != Number::Kind::kBigInteger) return true;
  in = before;
  return in.expected("a smaller number");
}

bool read_json(JsonReader& in, std::string& value) {
  return in.peek() == Type::kString ? in.read_string(value) : in.expected("a string");
}

bool disagrees(JsonReader& in, std::string_view name, std::string_view known, std::string_view by) {
  in.fail("expected " + std::string(known) + ", by " + std::string(by));
  return in.at_member(name);
}

bool agrees(JsonReader& in, std::string_view name, int64_t said, int64_t known,
            std::string_view by) {
  return said == known || disagrees(in, name, std::to_string(known), by);
}

bool agrees(JsonReader& in, std::string_view name, bool said, bool known, std::string_view by) {
  return said == known || disagrees(in, name, known ? "true" : "false", by);
}

}  // namespace runtime
