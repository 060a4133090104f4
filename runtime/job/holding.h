#pragma once
// Holding: what is held in memory for whoever sent a job, beside the job itself. Bytes are counted
// before they are there, in the form in which they will be; a no means that they must not be. Any
// thread.

#include <cstddef>
#include <memory>
#include <utility>

namespace runtime {

class Holding {
 public:
  virtual ~Holding() = default;
  virtual bool grow(size_t bytes) = 0;  // false, and nothing is counted: it would be too much
  virtual void shrink(size_t bytes) = 0;
};

// The part of it that goes with one result, and is given back with it. One thread at a time.
class HeldBytes {
 public:
  explicit HeldBytes(std::shared_ptr<Holding> of) : of_(std::move(of)) {}
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;
  ~HeldBytes() { shrink_to(0); }

  bool grow(size_t bytes) {
    if (!of_->grow(bytes)) return false;
    bytes_ += bytes;
    return true;
  }
  void shrink_to(size_t bytes) {
    if (bytes >= bytes_) return;
    of_->shrink(bytes_ - bytes);
    bytes_ = bytes;
  }
  size_t bytes() const { return bytes_; }

 private:
  const std::shared_ptr<Holding> of_;
  size_t bytes_ = 0;
};

}  // namespace runtime
