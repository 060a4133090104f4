#pragma once
// UTF-8 as everybody downstream of us understands it: no overlong forms, no surrogates, nothing
// past U+10FFFF. Used wherever bytes of a program or a caller become text. Pure functions.

#include <cstddef>
#include <string>
#include <string_view>

namespace runtime {

// These know ASCII only, whatever the locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The length of the longest prefix of `bytes` that is valid UTF-8.
size_t valid_utf8_prefix(std::string_view bytes);
inline bool is_utf8(std::string_view bytes) { return valid_utf8_prefix(bytes) == bytes.size(); }

// The number of bytes that one U+FFFD stands for at the start of `bytes`, where no valid character
// begins: the longest start of a character that could have been, at least one byte.
size_t broken_utf8_length(std::string_view bytes);

// `bytes` with each broken part replaced by U+FFFD.
std::string repaired_utf8(std::string_view bytes);

// The longest prefix or suffix of valid UTF-8 of at most `limit` bytes that splits no character.
std::string_view utf8_head(std::string_view text, size_t limit);
std::string_view utf8_tail(std::string_view text, size_t limit);

// How many bytes there are without the beginning of a character, at their end, whose rest may come
// yet.
size_t whole_characters(std::string_view bytes);

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

}  // namespace runtime
