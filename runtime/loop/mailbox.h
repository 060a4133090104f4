#pragma once
// Mailbox: calls that other threads want to be made on a loop's thread, in the order in which they
// were posted. Those that come when it is gone are dropped.

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/loop/loop.h"

namespace runtime {

class Mailbox {
 public:
  using Call = std::function<void()>;
  // For those who post; it outlives the mailbox. Thread-safe.
  class Slot {
   public:
    void post(Call call);

   private:
    friend Mailbox;
    std::mutex mutex_;
    std::vector<Call> calls_;
    Wakeup* wakeup_ = nullptr;  // null: the mailbox is gone
  };

  explicit Mailbox(Loop& loop);
  ~Mailbox();
  const std::shared_ptr<Slot>& slot() const { return slot_; }

 private:
  void make_calls();

  const std::shared_ptr<Slot> slot_ = std::make_shared<Slot>();
  Wakeup wakeup_;
};

}  // namespace runtime
