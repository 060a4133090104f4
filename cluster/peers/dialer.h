#pragma once
// Dialer: a process that connects to one address, for another process that has given up the right
// to make sockets. It is told when, and hands over the socket; it reads nothing else, and ends with
// the other. Loop thread only.

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

  // Forks: the caller has one thread, and its rights.
  static sys::Result<sys::OwnedFd> start(const JoinUrl& to, sys::Milliseconds patience);

  // `process`: of start().
  Dialer(runtime::Loop& loop, sys::OwnedFd process);
  // Whoever asks while the address does not answer gets the same error, and whoever asks soon
  // after it as well: an address that does not answer is not waited for again and again.
  void dial(Then then);
  // It was asked lately, and there was no connection.
  bool is_away() const;

 private:
  void ask();
  void answered();
  void fail(const sys::Error& why);

  const sys::OwnedFd process_;
  std::deque<Then> waiting_;  // for a socket each; the first of them has been asked for
  std::optional<sys::Error> trouble_;
  sys::Nanoseconds trouble_at_{};
  runtime::Readable readable_;
};

}  // namespace cluster
