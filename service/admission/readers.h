#pragma once
// Readers: read and inflate long bodies of clients, and deflate long answers, on threads of libuv's
// pool. Few at once, so that cores and threads are left for others, and the clients take turns.
// Loop thread only; shared with what is under way.

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "runtime/loop/loop.h"
#include "service/admission/fair_queue.h"
#include "service/http/exchange.h"

namespace service {

class Readers : public std::enable_shared_from_this<Readers> {
 public:
  explicit Readers(runtime::Loop& loop) : loop_(loop) {}

  // `read` is called on another thread, then `then` here.
  void read(const std::string& client, std::function<void()> read, std::function<void()> then);
  // The same for whoever reads the body of a request. A short one is read at once; a long one would
  // hold up all other clients meanwhile. Where the client leaves, `then` is not called.
  void read_body(const ExchangePtr& exchange, std::function<void()> read,
                 std::function<void()> then);

 private:
  struct Errand {
    std::function<void()> read, then;
  };
  void begin();

  runtime::Loop& loop_;
  FairQueue queue_;
  std::unordered_map<FairQueue::Ticket, Errand> errands_;  // that wait
  FairQueue::Ticket last_ = 0;
  unsigned under_way_ = 0;
};

}  // namespace service
