#include "tools/cli/batch/line_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sandbox/sys/huge_pages.h"

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
  // The memory that one huge line took is given back.
  if (buffer_.capacity() > 16 * kChunk && buffer_.size() < kChunk) buffer_.shrink_to_fit();
}

void LineReader::expect(std::vector<uint64_t> sizes) {
  sizes_ = std::move(sizes);
  parts_.assign(sizes_.size(), {});
  whole_ = 0;
}

void LineReader::pass_over(uint64_t bytes, std::string why) {
  expect({});
  passing_ = bytes;
  objection_ = std::move(why);
}

// Moves what has come of the parts out of the buffer. False: more is to come. No memory is taken
// for what was announced before it is there: a reserve is not touched.
bool LineReader::take_parts() {
  const size_t from = start_;
  const auto passed = static_cast<size_t>(std::min<uint64_t>(passing_, buffer_.size() - start_));
  passing_ -= passed;
  start_ += passed;
  while (whole_ < sizes_.size()) {
    std::string& part = parts_[whole_];
    const auto lacks = static_cast<size_t>(sizes_[whole_]) - part.size();
    const size_t there = std::min(lacks, buffer_.size() - start_);
    sys::reserve_huge(part, static_cast<size_t>(sizes_[whole_]));
    part.append(buffer_, start_, there);
    start_ += there;
    if (there < lacks) break;
    ++whole_;
  }
  scanned_ = start_;
  consumed_ += start_ - from;
  return passing_ == 0 && whole_ == sizes_.size();
}

std::optional<Line> LineReader::next() {
  if ((passing_ > 0 || whole_ < sizes_.size()) && !take_parts()) return std::nullopt;
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
  Line line{number_,
            consumed_,
            text,
            too_long,
            complete,
            std::exchange(parts_, {}),
            std::exchange(objection_, {})};
  expect({});
  return line;
}

}  // namespace cli
