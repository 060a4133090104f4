#pragma once
// Text for people on a terminal, or wherever it goes: colour where that wants it, and hostile bytes
// made harmless.

#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/values/shown_text.h"

namespace cli {

using runtime::clip;
using runtime::columns_of;
using runtime::escape_controls;
using runtime::Lines;

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
