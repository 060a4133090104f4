#pragma once
// KnownRuntimes: the languages that a router's pilots have, each as the pilots that have it say.
// Pilots of one kind say the same, which is kept once. Any thread.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace cluster {

class KnownRuntimes {
 public:
  using Pilot = uint64_t;
  static constexpr size_t kLongest = size_t{256} << 10;  // bytes of what a pilot says

  // The output of `zygo runtime list --json` of a pilot, of which the known fields are kept. False:
  // it is none.
  bool add(Pilot pilot, std::string_view json);
  void remove(Pilot pilot);
  // All of them in that form; empty: no pilot has said anything yet.
  std::string json() const;

 private:
  void forget(Pilot pilot);  // with the mutex held

  mutable std::mutex mutex_;
  std::map<std::string, unsigned> lists_;  // and how many pilots say so
  std::map<Pilot, std::string> of_pilot_;
};

}  // namespace cluster
