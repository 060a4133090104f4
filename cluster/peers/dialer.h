#pragma once
// Dialer: connects to one address, by a process that may (DialerProcesses). That one is told when,
// and hands over the socket, one after another. When it has ended, another one is started, after a
// pause that doubles while none of them answers. Loop thread only.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "cluster/peers/dialer_processes.h"
#include "runtime/loop/loop.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace cluster {

class Dialer {
 public:
  using Then = std::function<void(sys::Result<sys::OwnedFd> socket)>;
  struct House {
    std::function<void(DialerProcesses::Then)> start;  // starts a process
    // There is none, and another one is started soon.
    std::function<void(const sys::Error& why)> lost = [](const sys::Error&) {};
  };
  static constexpr size_t kMostWaiting = 1000;
  static constexpr sys::Milliseconds kFirstPause{100}, kLongestPause{30'000};

  // `known`: so long after an address did not answer, it is not waited for again: whoever asks gets
  // the same error.
  Dialer(runtime::Loop& loop, House house, sys::Milliseconds known = kKnown);
  // Whoever waits while it turns out that the address does not answer gets that error. When it is
  // somebody's turn who is not `wanted` any more, nothing is done for him.
  void dial(std::function<bool()> wanted, Then then);
  // It was asked lately, and there was no connection; or there is no process.
  bool is_away() const;
  // Of the process that there is; 0: there is none.
  int pid() const { return state_ == State::kThere ? pid_ : 0; }

  // Before the next start, when so many processes in a row have not answered once.
  static sys::Milliseconds pause_after(unsigned silent);

 private:
  static constexpr sys::Milliseconds kKnown{1'000};
  enum class State : uint8_t { kStarting, kThere, kGone };
  struct Waiting {
    std::function<bool()> wanted;
    Then then;
  };
  void begin_start();
  void started(sys::Result<DialerProcesses::Started> process);
  void ask();
  void answered();
  void lose(const sys::Error& why);
  void fail(const sys::Error& why);

  runtime::Loop& loop_;
  const House house_;
  const sys::Milliseconds known_;
  std::deque<Waiting> waiting_;  // for a socket each; the first of them has been asked for
  State state_ = State::kStarting;
  int pid_ = 0;
  unsigned silent_ = 0;  // processes in a row that have not answered once
  std::optional<sys::Error> trouble_;
  sys::Nanoseconds trouble_at_{};
  sys::OwnedFd process_;  // of one that has ended, too, until there is another
  std::optional<runtime::Readable> readable_;
  runtime::Timer again_;
};

}  // namespace cluster
