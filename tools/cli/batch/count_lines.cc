#include "tools/cli/batch/count_lines.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string_view>
#include <vector>

namespace cli {
namespace {
constexpr off_t kLargest = off_t{1} << 30;
}

std::optional<size_t> count_lines(int fd) {
  struct stat about {};
  off_t at = ::lseek(fd, 0, SEEK_CUR);
  if (at < 0 || ::fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  if (about.st_size - at > kLargest) return std::nullopt;

  std::vector<char> chunk(size_t{256} << 10);
  size_t lines = 0;
  bool blank = true;
  for (;;) {
    ssize_t n = ::pread(fd, chunk.data(), chunk.size(), at);
    if (n <= 0) break;
    at += n;
    std::string_view rest(chunk.data(), static_cast<size_t>(n));
    while (!rest.empty()) {
      size_t newline = rest.find('\n');
      blank = blank && rest.substr(0, newline).find_first_not_of(" \t\r\v\f") == rest.npos;
      if (newline == rest.npos) break;
      lines += blank ? 0 : 1;
      blank = true;
      rest.remove_prefix(newline + 1);
    }
  }
  return lines + (blank ? 0 : 1);
}

}  // namespace cli
