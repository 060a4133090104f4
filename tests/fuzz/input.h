#pragma once
// Input: takes the bytes of one fuzz input apart, from the front. Past the end everything is zero
// or empty, so that every input means something.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace fuzz {

class Input {
 public:
  Input(const uint8_t* data, size_t size) : left_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return left_.empty(); }
  std::string_view rest() { return take(left_.size()); }
  std::string_view take(size_t size) {
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(taken.size());
    return taken;
  }
  template <typename T>
  T number() {
    T value{};
    const std::string_view bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  uint8_t byte() { return number<uint8_t>(); }
  bool flag() { return (byte() & 1) != 0; }
  // One byte of length, then as many bytes.
  std::string text() { return std::string(take(byte())); }
  // Up to `separator`, which is passed over, or to the end.
  std::string_view up_to(char separator) {
    const std::string_view taken = take(std::min(left_.find(separator), left_.size()));
    take(1);
    return taken;
  }

 private:
  std::string_view left_;
};

}  // namespace fuzz
