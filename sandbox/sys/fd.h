#pragma once
// OwnedFd: sole owner of one descriptor. A function that takes `int fd` borrows; `OwnedFd` takes.
// Code after a fork may call close() itself.

#include <unistd.h>

#include <utility>

namespace sys {

class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(other.release()) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    OwnedFd old(std::exchange(fd_, other.release()));  // closes what we held; safe on self
    return *this;
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  ~OwnedFd() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset() { OwnedFd old(release()); }

 private:
  int fd_ = -1;
};

}  // namespace sys
