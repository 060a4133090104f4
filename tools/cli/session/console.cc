#include "tools/cli/session/console.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tools/cli/text.h"

namespace cli {

std::optional<std::string> Console::line(const std::string& prompt) {
  if (is_terminal_) (void)write_output(STDOUT_FILENO, prompt);
  for (;;) {
    if (const size_t end = read_.find('\n'); end != read_.npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    if (is_over_) {
      if (is_terminal_) (void)write_output(STDOUT_FILENO, "\n");
      if (read_.empty()) return std::nullopt;
      return std::exchange(read_, {});
    }
    std::array<pollfd, 2> entries{
        {{STDIN_FILENO, POLLIN, 0}, {stop_ ? stop_->fd() : -1, POLLIN, 0}}};
    if (::poll(entries.data(), entries.size(), -1) < 0) continue;
    if (entries[1].revents != 0) return std::nullopt;
    std::array<char, 4096> piece;
    const ssize_t n = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n > 0) read_.append(piece.data(), static_cast<size_t>(n));
    is_over_ = n <= 0;
  }
}

}  // namespace cli
