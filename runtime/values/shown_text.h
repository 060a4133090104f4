#pragma once
// Text of strangers for people to look at: whatever would move a cursor or hide something is made
// visible. Pure.

#include <cstddef>
#include <string>
#include <string_view>

namespace runtime {

enum class Lines { kKeep, kEscape };

// Makes text safe for a terminal. Control characters (C0, DEL, C1), bidirectional overrides and
// bytes that are not UTF-8 become visible escapes: "\x1b", "\u202e", "\xff". Newlines and tabs stay
// with Lines::kKeep; everything else that moves a cursor, "\r" included, is escaped.
std::string escape_controls(std::string_view bytes, Lines lines);

// At most `columns` characters, the last one "…" when something was cut. Counts code points.
std::string clip(std::string_view text, size_t columns);
size_t columns_of(std::string_view text);

}  // namespace runtime
