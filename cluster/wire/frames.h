#pragma once
// Frames: several messages in the bytes of one, each behind its length (four bytes, the lowest
// first). Small messages of one turn of the loop travel together. Pure; the reader's bytes are
// foreign.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cluster {

class FrameWriter {
 public:
  // The length of a message is less than 4 GiB.
  void add(std::string_view message);
  bool empty() const { return bytes_.empty(); }
  size_t size() const { return bytes_.size(); }
  std::string take();

 private:
  std::string bytes_;
};

class FrameReader {
 public:
  explicit FrameReader(std::string_view bytes) : left_(bytes) {}
  // The next one; none: there are no more, or what is left is no frame, and then it is not ok().
  std::optional<std::string_view> next();
  bool ok() const { return ok_; }

 private:
  std::string_view left_;
  bool ok_ = true;
};

}  // namespace cluster
