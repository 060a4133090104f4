#include "tools/cli/text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "sandbox/sys/file.h"

namespace cli {

std::string Style::paint(Colour colour, std::string_view text) const {
  if (!coloured_) return std::string(text);
  switch (colour) {
    case Colour::kNone:
      return std::string(text);
    case Colour::kGreen:
      return fmt::format("\x1b[32m{}\x1b[0m", text);
    case Colour::kYellow:
      return fmt::format("\x1b[33m{}\x1b[0m", text);
    case Colour::kRed:
      return fmt::format("\x1b[31m{}\x1b[0m", text);
    case Colour::kBold:
      return fmt::format("\x1b[1m{}\x1b[0m", text);
  }
  return std::string(text);
}

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

Style style_for(int fd, bool no_color) {
  const char* no_color_variable = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  bool unwanted = no_color || (no_color_variable != nullptr && *no_color_variable != '\0') ||
                  (terminal != nullptr && std::string_view(terminal) == "dumb");
  return Style(!unwanted && is_terminal(fd));
}

size_t terminal_width(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

bool write_output(int fd, std::string_view bytes) {
  if (!is_terminal(fd)) return sys::write_all(fd, bytes).ok();
  return sys::write_all(fd, escape_controls(bytes, Lines::kKeep)).ok();
}

void write_error_line(std::string_view text) {
  // A closed stderr has nobody to tell.
  static_cast<void>(sys::write_all(STDERR_FILENO, std::string(text) + "\n").ok());
}

}  // namespace cli
