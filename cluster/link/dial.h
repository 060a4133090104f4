#pragma once
// Dialling: a socket that is connected to a router. Blocks, for a name server as long as that one
// makes it wait: for a thread that may.

#include "cluster/link/join_url.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

struct addrinfo;

namespace cluster {

// Tries all addresses of the host, one after the other, each with its share of `patience`. The
// socket does not block, and the kernel notices a peer that is gone.
sys::Result<sys::OwnedFd> dial(const JoinUrl& to, sys::Milliseconds patience);

// The same behind the look-up. An error is the last address's.
sys::Result<sys::OwnedFd> dial_any(const addrinfo* addresses, sys::Milliseconds patience);

}  // namespace cluster
