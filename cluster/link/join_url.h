#pragma once
// JoinUrl: where a router listens, as an operator writes it. Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "sandbox/sys/result.h"

namespace cluster {

struct JoinUrl {
  std::string host = {};  // a name or a numeric address, without brackets; empty: a unix socket
  uint16_t port = 0;      // of TCP
  bool tls = false;
  std::string prefix =
      {};  // of every path, for a proxy: "" or e.g. "/zygo", without a slash at its end
  std::string path = {};  // of a unix socket

  bool is_unix() const { return host.empty(); }
  std::string authority() const;  // of the header Host: "[::1]:8000"
  std::string text() const;       // as parse_join_url() reads it
  bool operator==(const JoinUrl&) const = default;
};

// "http://HOST[:PORT][/PREFIX]", "https://HOST[:PORT][/PREFIX]" or "unix:PATH". The ports are 80
// and 443 where none is written. An error says what was expected.
sys::Result<JoinUrl> parse_join_url(std::string_view text);

}  // namespace cluster
