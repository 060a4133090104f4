#pragma once
// FairQueue: which job is next. A higher priority goes first; within one priority the clients take
// turns, whatever each has queued; within one client the oldest goes first. Pure.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace service {

class FairQueue {
 public:
  using Ticket = uint64_t;

  void push(Ticket ticket, const std::string& client, int priority);
  std::optional<Ticket> pop();
  bool remove(Ticket ticket);  // false: it is not here
  size_t size() const { return places_.size(); }

 private:
  struct Level {
    std::list<std::string> turns;  // clients that have something here; the first is next
    std::unordered_map<std::string, std::deque<Ticket>> waiting;
  };
  struct Place {
    int priority;
    std::string client;
  };
  void forget_client(Level& level, const std::string& client);

  std::map<int, Level, std::greater<>> levels_;
  std::unordered_map<Ticket, Place> places_;
};

}  // namespace service
