#include "runtime/host/id_slots.h"

#include <deque>
#include <mutex>
#include <utility>

namespace runtime {

struct IdSlots::Lease::State {
  std::mutex mutex;
  uint32_t fresh = 0, count = 0;  // those from `fresh` on were never given
  std::deque<uint32_t> returned;  // the one that came back longest ago first
};

IdSlots::IdSlots(uint32_t count) : state_(std::make_shared<Lease::State>()) {
  state_->count = count;
}

std::optional<IdSlots::Lease> IdSlots::take() {
  std::lock_guard lock(state_->mutex);
  Lease lease;
  if (state_->fresh < state_->count) {
    lease.number_ = state_->fresh++;
  } else if (!state_->returned.empty()) {
    lease.number_ = state_->returned.front();
    state_->returned.pop_front();
  } else {
    return std::nullopt;
  }
  lease.state_ = state_;
  return lease;
}

IdSlots::Lease& IdSlots::Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  reset();
  state_ = std::move(other.state_);
  number_ = other.number_;
  return *this;
}

void IdSlots::Lease::reset() {
  const std::shared_ptr<State> state = std::exchange(state_, nullptr);
  if (!state) return;
  std::lock_guard lock(state->mutex);
  state->returned.push_back(number_);
}

}  // namespace runtime
