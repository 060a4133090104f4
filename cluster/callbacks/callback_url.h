#pragma once
// Where a callback goes, as a client writes it, and where callbacks may go, as the operator does.
// Pure; the client's text is untrusted.

#include <string>
#include <string_view>

#include "cluster/link/join_url.h"
#include "sandbox/sys/result.h"

namespace cluster {

struct CallbackUrl {
  JoinUrl origin;      // scheme, host and port
  std::string target;  // of the request: path and query
};

// "http://HOST[:PORT]/PATH?QUERY", or https. An error says what was expected.
sys::Result<CallbackUrl> parse_callback_url(std::string_view text);

// "http://HOST[:PORT][/PATH]", or https: callbacks may go there and below. An error says what is
// wrong with the text.
sys::Result<JoinUrl> parse_callback_place(std::string_view text);

// At that origin, and at or below its prefix.
bool is_below(const CallbackUrl& url, const JoinUrl& place);

}  // namespace cluster
