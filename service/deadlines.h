#pragma once
// Deadlines: any number of delayed actions on one timer. Loop thread only.

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>

#include "runtime/loop/loop.h"
#include "sandbox/sys/units.h"

namespace service {

class Deadlines {
 public:
  using Id = uint64_t;  // 0: none
  explicit Deadlines(runtime::Loop& loop) : timer_(loop, [this] { fire(); }) {}

  Id at(sys::Nanoseconds when, std::function<void()> then);
  void forget(Id id);  // also one that has passed, or none

 private:
  struct Entry {
    Id id;
    std::function<void()> then;
  };
  using Entries = std::multimap<sys::Nanoseconds, Entry>;
  void fire();
  void arm();

  Entries entries_;
  std::unordered_map<Id, Entries::iterator> by_id_;
  Id last_ = 0;
  runtime::LateTimer timer_;
};

}  // namespace service
