#pragma once
// Dialer: a process that connects to one address, for another process that has given up the right
// to make sockets. It is told when, and hands over the socket, one after another; it reads nothing
// else, and ends with the other. Loop thread only.

#include <deque>
#include <functional>
#include <optional>

#include "cluster/link/join_url.h"
#include "runtime/loop/loop.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace cluster {

class Dialer {
 public:
  using Then = std::function<void(sys::Result<sys::OwnedFd> socket)>;
  static constexpr size_t kMostWaiting = 1000;

  // Forks: the caller has one thread, its rights, and no secret in its memory yet.
  static sys::Result<sys::OwnedFd> start(const JoinUrl& to, sys::Milliseconds patience);

  // `process`: of start(). `known`: so long after an address did not answer, it is not waited for
  // again: whoever asks gets the same error.
  Dialer(runtime::Loop& loop, sys::OwnedFd process, sys::Milliseconds known = kKnown);
  // Whoever waits while it turns out that the address does not answer gets that error. When it is
  // somebody's turn who is not `wanted` any more, nothing is done for him.
  void dial(std::function<bool()> wanted, Then then);
  // It was asked lately, and there was no connection.
  bool is_away() const;

 private:
  static constexpr sys::Milliseconds kKnown{1'000};
  struct Waiting {
    std::function<bool()> wanted;
    Then then;
  };
  void ask();
  void answered();
  void fail(const sys::Error& why);

  const sys::OwnedFd process_;
  const sys::Milliseconds known_;
  std::deque<Waiting> waiting_;  // for a socket each; the first of them has been asked for
  bool gone_ = false;            // the process
  std::optional<sys::Error> trouble_;
  sys::Nanoseconds trouble_at_{};
  runtime::Readable readable_;
};

}  // namespace cluster
