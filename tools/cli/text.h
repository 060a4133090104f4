#pragma once
// Text for people: hostile bytes made harmless, colour where a terminal wants it. Pure, but for
// style_for() and terminal_width(), which ask about a descriptor.

#include <cstddef>
#include <string>
#include <string_view>

namespace cli {

enum class Lines { kKeep, kEscape };

// Makes text safe for a terminal. Control characters (C0, DEL, C1), bidirectional overrides and
// bytes that are not UTF-8 become visible escapes: "\x1b", "\u202e", "\xff". Newlines and tabs stay
// with Lines::kKeep; everything else that moves a cursor, "\r" included, is escaped.
std::string escape_controls(std::string_view bytes, Lines lines);

// At most `columns` characters, the last one "…" when something was cut. Counts code points.
std::string clip(std::string_view text, size_t columns);
size_t columns_of(std::string_view text);

enum class Colour { kNone, kGreen, kYellow, kRed, kBold };

// Paints for one destination: a terminal that wants colour, or nothing.
class Style {
 public:
  explicit Style(bool coloured = false) : coloured_(coloured) {}
  std::string paint(Colour colour, std::string_view text) const;

 private:
  bool coloured_;
};

bool is_terminal(int fd);
// Colour only on a terminal, and not with --no-color, NO_COLOR or TERM=dumb.
Style style_for(int fd, bool no_color);
size_t terminal_width(int fd);  // 80 when unknown

// Writes to a terminal are escaped, all others are raw. False when the reader is gone or the disk
// is full; errno tells.
bool write_output(int fd, std::string_view bytes);
void write_error_line(std::string_view text);  // to stderr, whole, with a newline

}  // namespace cli
