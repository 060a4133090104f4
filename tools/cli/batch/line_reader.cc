#include "tools/cli/batch/line_reader.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace cli {
namespace {
constexpr size_t kChunk = size_t{256} << 10;
constexpr std::string_view kBlanks = " \t\r\n\v\f";
}  // namespace

sys::Result<bool> LineReader::fill(int fd) {
  make_room();
  size_t had = buffer_.size();
  buffer_.resize(had + kChunk);
  ssize_t n = ::read(fd, buffer_.data() + had, kChunk);
  int code = errno;
  buffer_.resize(had + static_cast<size_t>(n > 0 ? n : 0));
  if (n > 0) return true;
  if (n < 0 && (code == EINTR || code == EAGAIN)) return true;
  if (n < 0) return sys::Error::from_errno("read", code);
  finish();
  return false;
}

void LineReader::append(std::string_view bytes) {
  make_room();
  buffer_ += bytes;
}

// Moves the line under way to the front, when lines before it are done with.
void LineReader::make_room() {
  if (start_ == 0) return;
  buffer_.erase(0, start_);
  scanned_ -= start_;
  start_ = 0;
  // What one huge line took is given back.
  if (buffer_.capacity() > 16 * kChunk && buffer_.size() < kChunk) buffer_.shrink_to_fit();
}

std::optional<Line> LineReader::next() {
  for (;;) {
    size_t newline = buffer_.find('\n', scanned_);
    std::optional<Line> line;
    if (newline != std::string::npos) {
      line = take(newline - start_, true);
    } else if (finished_ && (start_ < buffer_.size() || skipping_)) {
      line = take(buffer_.size() - start_, false);
    } else {
      scanned_ = buffer_.size();
      if (scanned_ - start_ <= longest_) return std::nullopt;
      skipping_ = true;
      consumed_ += scanned_ - start_;
      start_ = scanned_;
      return std::nullopt;
    }
    if (line) return line;
  }
}

// The next `length` bytes are the rest of a line. Nothing when it is blank.
std::optional<Line> LineReader::take(size_t length, bool complete) {
  std::string_view text = std::string_view(buffer_).substr(start_, length);
  size_t whole = length + (complete ? 1 : 0);
  bool too_long = std::exchange(skipping_, false) || length > longest_;
  start_ += whole;
  scanned_ = start_;
  consumed_ += whole;
  ++number_;
  if (too_long) text = {};
  if (!too_long && text.find_first_not_of(kBlanks) == std::string_view::npos) return std::nullopt;
  return Line{number_, consumed_, text, too_long, complete};
}

}  // namespace cli
