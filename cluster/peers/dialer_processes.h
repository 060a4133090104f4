#pragma once
// DialerProcesses: the processes that connect to other routers, for one that has given up the right
// to make sockets and processes. One process, started before that, starts one for each address, and
// another one when that has ended. They all end with their router. Loop thread only.

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "cluster/link/join_url.h"
#include "runtime/loop/loop.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace cluster {

// In front of a socket that a process hands over.
struct HandedOver {
  int32_t pid = 0;     // of a process that was started; the socket is the way to it
  char why[256] = {};  // empty: a socket comes with it
};

class DialerProcesses {
 public:
  struct Started {
    sys::OwnedFd channel;  // each byte asks for a connection; HandedOver comes back
    int pid = 0;
  };
  using Then = std::function<void(sys::Result<Started>)>;

  // Forks: the caller has one thread, its rights, and no secret in its memory yet. `patience`: of
  // each connection. Returns the way to the process that starts the others.
  static sys::Result<sys::OwnedFd> start(const std::vector<JoinUrl>& to,
                                         sys::Milliseconds patience);

  // `gone`: called once when that process has ended, which nothing can replace.
  DialerProcesses(runtime::Loop& loop, sys::OwnedFd channel, std::function<void()> gone);
  // The process for the address with this number; the one before is ended.
  void start_one(uint32_t number, Then then);

 private:
  void answered();

  const sys::OwnedFd channel_;
  const std::function<void()> gone_;
  std::deque<Then> waiting_;
  bool is_gone_ = false;
  runtime::Readable readable_;
};

}  // namespace cluster
