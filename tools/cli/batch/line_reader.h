#pragma once
// LineReader: bytes of a descriptor in, numbered lines out. Bounded: of a line longer than the
// limit only its number is kept. Used by the batch loop (jobs) and by resume (results). Owns its
// buffer only.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/values/parts.h"
#include "sandbox/sys/result.h"

namespace cli {

struct Line {
  size_t number = 0;      // from 1
  size_t end = 0;         // offset of the byte after the line and its newline, in the whole input
  std::string_view text;  // without the newline; valid until the next call of the reader
  bool too_long = false;  // text is empty then
  bool complete = true;   // false: the input ended without a newline
  runtime::Parts parts;   // came in front of it
  std::string objection;  // to them: they were passed over
};

class LineReader {
 public:
  explicit LineReader(size_t longest) : longest_(longest) {}

  // One read(2): true when there was something, or might be later (EAGAIN, EINTR); false at the
  // end.
  sys::Result<bool> fill(int fd);
  void append(std::string_view bytes);
  void finish() { finished_ = true; }

  // The bytes after the last line are parts of these sizes, which belong to the next line.
  void expect(std::vector<uint64_t> sizes);
  // So many bytes are thrown away, and the next line says why.
  void pass_over(uint64_t bytes, std::string why);

  // The next line that is not blank, or nothing until there is more input.
  std::optional<Line> next();
  bool finished() const { return finished_; }

 private:
  std::optional<Line> take(size_t length, bool complete);
  void make_room();
  bool take_parts();

  size_t longest_;
  std::string buffer_;
  size_t start_ = 0;     // of the line under way, in buffer_
  size_t scanned_ = 0;   // no newline before this, in buffer_
  size_t consumed_ = 0;  // bytes of the input before buffer_[start_]
  size_t number_ = 0;
  std::vector<uint64_t> sizes_;  // of the parts that are to come
  runtime::Parts parts_;
  size_t whole_ = 0;      // so many of them have come
  uint64_t passing_ = 0;  // bytes that are thrown away
  std::string objection_;
  bool skipping_ = false;  // inside a line that is too long
  bool finished_ = false;
};

}  // namespace cli
