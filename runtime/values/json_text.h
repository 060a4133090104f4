#pragma once
// JSON text by plain appending: strings, numbers and base64. Used for values and for results;
// nothing here allocates but the string it appends to.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace runtime {

enum class Repair : uint8_t { kNone, kReplaced };  // did U+FFFD stand in for something?

// `text` between quotes, escaped as JSON demands, with U+FFFD for each part that is not UTF-8.
Repair append_json_string(std::string_view text, std::string& out);

// How many bytes at the start of valid UTF-8 a reader of text on a terminal would not see as they
// are: a control character, or a mark that turns the direction of writing. 0: it begins with none.
size_t unseen_length(std::string_view utf8);

void append_json_integer(int64_t value, std::string& out);

// The shortest text that reads back as the same double, with a ".0" or an exponent so that it stays
// a float. `value` must be finite.
void append_json_double(double value, std::string& out);

void append_base64(std::string_view bytes, std::string& out);
// False when `text` is not base64 of the standard alphabet with padding.
bool append_from_base64(std::string_view text, std::string& out);

}  // namespace runtime
