#pragma once
// The bytes of values on their way between two processes of one build on one host: numbers as they
// lie in memory, sizes in front of what has a size. A struct says its members once, as
// `fields(archive, value)`, for both directions. Pure; the reader believes nothing: what it cannot
// read leaves it not ok(), and no size makes it reserve more than what is there.

#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sandbox/sys/units.h"

namespace runtime {

// The last enumerator of an enumeration that travels; each has its own.
template <typename E>
struct WireEnd;

// Compound types that both directions know, besides structs.
template <typename T>
inline constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

class WireWriter {
 public:
  template <typename... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  std::string take() { return std::move(bytes_); }
  const std::string& bytes() const { return bytes_; }
  void reserve(size_t bytes) { bytes_.reserve(bytes); }

 private:
  void raw(const void* from, size_t size) { bytes_.append(static_cast<const char*>(from), size); }
  void size(size_t count) {
    const uint64_t number = count;
    raw(&number, sizeof number);
  }

  template <typename T>
  void put(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      bytes_ += static_cast<char>(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      bytes_ += value ? '\1' : '\0';
    } else if constexpr (is_number<T>) {
      raw(&value, sizeof value);
    } else {
      fields(*this, const_cast<T&>(value));  // writing changes nothing
    }
  }
  void put(const std::string& text) {
    size(text.size());
    bytes_ += text;
  }
  void put(const sys::Bytes& bytes) { put(bytes.count); }
  template <typename Rep, typename Period>
  void put(const std::chrono::duration<Rep, Period>& time) {
    put(static_cast<int64_t>(time.count()));
  }
  template <typename T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <typename T>
  void put(const std::vector<T>& list) {
    size(list.size());
    for (const T& each : list) put(each);
  }
  template <typename A, typename B>
  void put(const std::pair<A, B>& pair) {
    put(pair.first);
    put(pair.second);
  }
  template <typename... T>
  void put(const std::variant<T...>& value) {
    bytes_ += static_cast<char>(value.index());
    std::visit([this](const auto& held) { this->put(held); }, value);
  }

  std::string bytes_;
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : left_(bytes) {}

  template <typename... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && left_.empty(); }
  void fail() { ok_ = false; }

 private:
  bool raw(void* into, size_t size) {
    if (!ok_ || left_.size() < size) return ok_ = false;
    std::memcpy(into, left_.data(), size);
    left_.remove_prefix(size);
    return true;
  }
  // Reads the size of something whose elements take a byte each, at least.
  size_t size() {
    uint64_t count = 0;
    if (!raw(&count, sizeof count) || count > left_.size()) {
      ok_ = false;
      return 0;
    }
    return count;
  }

  template <typename T>
  void get(T& value) {
    if constexpr (std::is_enum_v<T>) {
      uint8_t number = 0;
      if (!raw(&number, 1) || number > static_cast<uint8_t>(WireEnd<T>::kLast)) return fail();
      value = static_cast<T>(number);
    } else if constexpr (std::is_same_v<T, bool>) {
      uint8_t number = 0;
      if (!raw(&number, 1) || number > 1) return fail();
      value = number == 1;
    } else if constexpr (is_number<T>) {
      raw(&value, sizeof value);
    } else {
      fields(*this, value);
    }
  }
  void get(std::string& text) {
    const size_t count = size();
    text.assign(left_.substr(0, count));
    left_.remove_prefix(count);
  }
  void get(sys::Bytes& bytes) { get(bytes.count); }
  template <typename Rep, typename Period>
  void get(std::chrono::duration<Rep, Period>& time) {
    int64_t count = 0;
    get(count);
    time = std::chrono::duration<Rep, Period>(count);
  }
  template <typename T>
  void get(std::optional<T>& value) {
    bool has = false;
    get(has);
    value.reset();
    if (has && ok_) get(value.emplace());
  }
  template <typename T>
  void get(std::vector<T>& list) {
    list.clear();
    const size_t count = size();
    for (size_t i = 0; i < count && ok_; ++i) get(list.emplace_back());
  }
  template <typename A, typename B>
  void get(std::pair<A, B>& pair) {
    get(pair.first);
    get(pair.second);
  }
  template <typename... T>
  void get(std::variant<T...>& value) {
    uint8_t index = 0;
    if (!raw(&index, 1) || index >= sizeof...(T)) return fail();
    alternative<0>(value, index);
  }
  template <size_t I, typename... T>
  void alternative(std::variant<T...>& value, size_t index) {
    if constexpr (I < sizeof...(T)) {
      if (index == I) return get(value.template emplace<I>());
      alternative<I + 1>(value, index);
    }
  }

  std::string_view left_;
  bool ok_ = true;
};

}  // namespace runtime
