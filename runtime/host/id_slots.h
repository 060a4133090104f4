#pragma once
// IdSlots: which of a range of ids are in use by cells. What is given is held by nobody else, and
// the one that was given back longest ago is given first. Thread-safe.

#include <cstdint>
#include <memory>
#include <optional>

namespace runtime {

class IdSlots {
 public:
  // Gives it back when it goes; may outlive the IdSlots.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { reset(); }
    uint32_t number() const { return number_; }
    void reset();

   private:
    friend class IdSlots;
    struct State;
    std::shared_ptr<State> state_;
    uint32_t number_ = 0;
  };

  IdSlots() : IdSlots(0) {}
  explicit IdSlots(uint32_t count);  // numbers from 0
  // Nothing: all are in use.
  std::optional<Lease> take();

 private:
  std::shared_ptr<Lease::State> state_;
};

}  // namespace runtime
