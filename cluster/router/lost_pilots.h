#pragma once
// LostPilots: the pilots that were lost lately, for people who ask why. Keeps a bounded number, and
// counts all. Pure.

#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "sandbox/sys/units.h"

namespace cluster {

class LostPilots {
 public:
  enum class Reason : uint8_t { kDisconnected, kSilent, kSentAway };
  static constexpr std::array kReasons{Reason::kDisconnected, Reason::kSilent, Reason::kSentAway};
  static constexpr size_t kMost = 50;

  struct Loss {
    std::string name, address, engine;  // of the pilot
    Reason reason = Reason::kDisconnected;
    std::string message;          // the same in words
    int64_t time_ms = 0;          // since 1970
    uint64_t jobs = 0;            // of this router that it had
    uint64_t ended = 0;           // verdicts of it that counted
    std::chrono::seconds here{};  // how long it was there
  };

  void add(Loss loss);
  const std::deque<Loss>& all() const { return losses_; }  // newest first
  uint64_t count(Reason reason) const { return counts_.at(static_cast<size_t>(reason)); }

 private:
  std::deque<Loss> losses_;
  std::array<uint64_t, kReasons.size()> counts_{};
};

// "disconnected", "silent", "sent_away": the words of the API and of metrics.
const char* name_of(LostPilots::Reason reason);

}  // namespace cluster
