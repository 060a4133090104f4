#pragma once
// Shares: how many of the workers one client may have while there are others. Of several clients
// those that run something already leave an eighth of the workers alone, so that whoever runs
// nothing finds one at once; a client that is alone has them all. Pure; one thread at a time.

#include <cstddef>
#include <map>
#include <string>

#include "sandbox/sys/units.h"

namespace runtime {

class Shares {
 public:
  // 0 workers: nobody is held back. Fewer than four are too few to leave one alone.
  explicit Shares(size_t workers) : workers_(workers), left_alone_(share_of(workers)) {}

  // The empty client is nobody's in particular: it is never held back.
  void seen(const std::string& client, sys::Nanoseconds now);  // it has asked for something
  // May `count` of its jobs begin together?
  bool may_begin(const std::string& client, size_t count, sys::Nanoseconds now) const;
  void began(const std::string& client);
  void ended(const std::string& client);

  // No worker is kept for a client that has asked for nothing for so long.
  static constexpr sys::Nanoseconds kRemembered = std::chrono::seconds(60);

 private:
  struct Client {
    size_t running = 0;
    sys::Nanoseconds last{};
  };
  static size_t share_of(size_t workers) { return workers < 4 ? 0 : (workers + 7) / 8; }
  bool is_about(const Client& client, sys::Nanoseconds now) const {
    return client.running > 0 || now - client.last < kRemembered;
  }

  const size_t workers_, left_alone_;
  size_t running_ = 0;
  std::map<std::string, Client> clients_;
};

}  // namespace runtime
