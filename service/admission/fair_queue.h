#pragma once
// FairQueue: chooses the next job. The clients take turns, whatever the number and priority of
// their jobs; within one client a higher priority goes first, then the oldest. Pure.

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
  // Takes only from clients that `may`, if that is given.
  std::optional<Ticket> pop(const std::function<bool(const std::string& client)>& may = nullptr);
  bool remove(Ticket ticket);  // false: it is not here
  size_t size() const { return places_.size(); }
  size_t size_of(const std::string& client) const;

 private:
  struct Client {
    std::map<int, std::deque<Ticket>, std::greater<>> waiting;
    size_t count = 0;
  };
  struct Place {
    int priority;
    std::string client;
  };
  void took_one(const std::string& name, Client& client, int priority);

  std::list<std::string> turns_;  // clients that have something here; the first is next
  std::unordered_map<std::string, Client> clients_;
  std::unordered_map<Ticket, Place> places_;
};

}  // namespace service
