#pragma once
// Allowance: how many bytes of strangers the service holds at once: request bodies, the jobs made
// of them, results that nobody has fetched. One thread. A Share gives back what it holds when it
// ends; it must not outlive its Allowance.

#include <cstddef>
#include <utility>

namespace service {

class Allowance {
 public:
  explicit Allowance(size_t most) : most_(most) {}
  size_t held() const { return held_; }
  size_t most() const { return most_; }

  class Share {
   public:
    Share() = default;
    explicit Share(Allowance& of) : of_(&of) {}
    Share(Share&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      Share old(std::move(*this));
      of_ = std::exchange(other.of_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
      return *this;
    }
    ~Share() {
      if (of_) of_->held_ -= bytes_;
    }
    // False, and nothing changed, when that is more than there is.
    bool resize(size_t bytes) {
      if (!of_ || (bytes > bytes_ && bytes - bytes_ > of_->most_ - of_->held_)) return false;
      of_->held_ = of_->held_ - bytes_ + bytes;
      bytes_ = bytes;
      return true;
    }

   private:
    Allowance* of_ = nullptr;
    size_t bytes_ = 0;
  };

 private:
  size_t most_, held_ = 0;
};

}  // namespace service
