#pragma once
// MissedMessages: what a kernel has said to a client since its connection broke off, for when it
// comes again. They are the last one's who left, as a Jupyter server has it. Bounded, and held for
// the client; of too many the oldest go. Pure.

#include <deque>
#include <string>
#include <vector>

#include "service/http/allowance.h"
#include "service/jupyter/channels.h"

namespace service::jupyter {

class MissedMessages {
 public:
  static constexpr size_t kMostBytes = size_t{1} << 20;

  struct Said {
    Channel channel;
    Message message;
    size_t bytes = 0;  // that it would have on its way
  };

  explicit MissedMessages(Allowance::Share share) : share_(std::move(share)) {}

  // This client has left. What another one missed is forgotten.
  void begin(std::string client);
  bool are_of(const std::string& client) const { return !client_.empty() && client_ == client; }
  // A message for all, or for the client that has left; others are none of its.
  void add(Channel channel, const Message& message);
  // All that it has missed, in order, if it is the one that left; and it is there again.
  std::vector<Said> take(const std::string& client);

 private:
  void drop_oldest();

  Allowance::Share share_;
  std::string client_;  // empty: nobody has left
  std::deque<Said> said_;
};

}  // namespace service::jupyter
