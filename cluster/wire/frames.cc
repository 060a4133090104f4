#include "cluster/wire/frames.h"

#include <cstdint>
#include <utility>

#include "sandbox/sys/result.h"

namespace cluster {

namespace {

constexpr size_t kLengthBytes = 4;

}  // namespace

void FrameWriter::add(std::string_view message) {
  VERIFY(message.size() <= UINT32_MAX);
  const auto size = static_cast<uint32_t>(message.size());
  for (unsigned shift = 0; shift < 32; shift += 8)
    bytes_ += static_cast<char>(static_cast<unsigned char>(size >> shift));
  bytes_ += message;
}

std::string FrameWriter::take() { return std::exchange(bytes_, {}); }

std::optional<std::string_view> FrameReader::next() {
  if (left_.empty() || !ok_) return std::nullopt;
  ok_ = left_.size() >= kLengthBytes;
  if (!ok_) return std::nullopt;
  uint32_t size = 0;
  for (unsigned i = 0; i < kLengthBytes; ++i)
    size |= static_cast<uint32_t>(static_cast<unsigned char>(left_[i])) << (8 * i);
  ok_ = size > 0 && size <= left_.size() - kLengthBytes;
  if (!ok_) return std::nullopt;
  const std::string_view message = left_.substr(kLengthBytes, size);
  left_.remove_prefix(kLengthBytes + size);
  return message;
}

}  // namespace cluster
