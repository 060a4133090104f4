#include "runtime/loop/mailbox.h"

#include <utility>

namespace runtime {

void Mailbox::Slot::post(Call call) {
  std::lock_guard lock(mutex_);
  if (!wakeup_) return;
  calls_.push_back(std::move(call));
  if (calls_.size() == 1) wakeup_->wake();
}

Mailbox::Mailbox(Loop& loop) : wakeup_(loop, [this] { make_calls(); }) {
  slot_->wakeup_ = &wakeup_;
}

Mailbox::~Mailbox() {
  std::vector<Call> dropped;
  std::lock_guard lock(slot_->mutex_);
  slot_->wakeup_ = nullptr;
  dropped.swap(slot_->calls_);
}

void Mailbox::make_calls() {
  std::vector<Call> calls;
  {
    std::lock_guard lock(slot_->mutex_);
    calls.swap(slot_->calls_);
  }
  for (Call& call : calls) std::exchange(call, nullptr)();
}

}  // namespace runtime
