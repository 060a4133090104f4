#pragma once
// Fetch: one GET to a router on a connection of its own. Blocks: for a thread that may. What the
// router answers is untrusted.

#include <functional>
#include <string>
#include <string_view>

#include "cluster/link/join_url.h"
#include "cluster/link/tls.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace cluster {

struct FetchRequest {
  std::string target;               // "/v1/environments", behind the URL's prefix
  std::string token;                // empty: none is sent
  const TlsContext* tls = nullptr;  // of an https URL, and there always
  int stop = -1;                    // it ends early when this is readable; -1: nothing ends it
};

// Gives the body to `sink`, in pieces, whose error ends it. An error is what the router said, if
// its status is not 200, or how the connection failed; so is a silence of `patience`.
sys::Result<void> fetch(const JoinUrl& from, const FetchRequest& request,
                        sys::Milliseconds patience,
                        const std::function<sys::Result<void>(std::string_view piece)>& sink);

}  // namespace cluster
