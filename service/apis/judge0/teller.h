#pragma once
// Teller: tells at the URL of a submission how that has ended. What it holds meanwhile is its
// client's, and a part of all that may be held: where many do not listen, their callbacks are
// dropped, and no result is. Loop thread only.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "service/apis/api.h"
#include "service/apis/judge0/submission.h"
#include "service/callbacks.h"
#include "service/http/allowance.h"

namespace service::judge0 {

class Teller {
 public:
  // No maker: it tells nobody.
  Teller(const ApiContext& context, const CallbacksMaker& maker);

  bool tells() const { return callbacks_ != nullptr; }
  // The check of the URLs of clients; empty: it tells nobody.
  const Callbacks::Check& check() const { return check_; }
  bool is_idle() const { return !callbacks_ || (written_ == 0 && callbacks_->is_idle()); }
  // `like`: who answers for the bytes.
  void tell(const Submission& submission, const Allowance::Share& like);
  void append_metrics(std::string& into) const;

 private:
  class Held;
  void send(const std::string& url, std::string body, std::shared_ptr<Held> held);

  const std::function<void()> rested_;
  runtime::Loop& loop_;
  const size_t most_held_;
  const std::shared_ptr<std::atomic<size_t>> held_ = std::make_shared<std::atomic<size_t>>(0);
  const std::shared_ptr<Teller*> self_ = std::make_shared<Teller*>(this);
  std::unique_ptr<Callbacks> callbacks_;
  Callbacks::Check check_;
  size_t written_ = 0;    // callbacks that are being
  uint64_t dropped_ = 0;  // for want of room
};

}  // namespace service::judge0
