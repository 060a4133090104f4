#pragma once
// Result<T>: a value or an Error. Every fallible function of zygo returns one; nothing throws
// across a folder. An Error says what was attempted and on what, and carries errno where the kernel
// said no. Used in every process; after a fork only Error's numeric half (code) is looked at.

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace sys {

class [[nodiscard]] Error {
 public:
  // `what` is the attempt in words: "open /sys/fs/cgroup". The text of `code` is appended.
  static Error from_errno(std::string_view what, int code = errno) {
    return Error(std::string(what) + ": " + std::strerror(code), code);
  }
  static Error because(std::string text) { return Error(std::move(text), 0); }

  // The same error as seen from one layer up: "start template python-numpy: clone: ...".
  Error context(std::string_view outer) && {
    text_ = std::string(outer) + ": " + text_;
    return std::move(*this);
  }

  const std::string& text() const { return text_; }
  int code() const { return code_; }  // errno, or 0 when the kernel was not asked

 private:
  Error(std::string text, int code) : text_(std::move(text)), code_(code) {}
  std::string text_;
  int code_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  using Value = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  T value() && { return std::get<0>(std::move(state_)); }
  const Error& error() const& { return std::get<1>(state_); }
  Error error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return error_.index() == 0; }
  explicit operator bool() const { return ok(); }
  void value() && {}
  const Error& error() const& { return std::get<1>(error_); }
  Error error() && { return std::get<1>(std::move(error_)); }

 private:
  std::variant<std::monostate, Error> error_;
};

}  // namespace sys

// Evaluates to the value, or returns the error from the enclosing function. Never use it between
// fork() and _exit(): it would return into a second copy of the caller.
#define TRY(expression)                     \
  __extension__({                           \
    auto attempted_ = (expression);         \
    if (!attempted_.ok()) [[unlikely]]      \
      return std::move(attempted_).error(); \
    std::move(attempted_).value();          \
  })

// A bug in zygo itself, not a bad input: says where and ends the process.
#define VERIFY(condition)                                                                     \
  do {                                                                                        \
    if (!(condition)) [[unlikely]] {                                                          \
      std::fprintf(stderr, "zygo: %s:%d: broken: %s\n", __FILE_NAME__, __LINE__, #condition); \
      std::abort();                                                                           \
    }                                                                                         \
  } while (false)
