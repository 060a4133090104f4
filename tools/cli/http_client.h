#pragma once
// Asks a service for its statistics: one request on a connection of its own. For `zygo top`.

#include <string>
#include <string_view>

#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace cli {

struct ServiceAddress {
  std::string host, port;  // without brackets; or else
  std::string path;        // of a unix socket
  std::string text;        // as people write it
};
// "http://HOST:PORT", "HOST:PORT" or "unix:PATH".
sys::Result<ServiceAddress> parse_service_address(std::string_view text);

struct HttpAnswer {
  int status = 0;
  std::string body;
};
// All that a service sends until it closes the connection. Pure.
sys::Result<HttpAnswer> parse_http_answer(std::string_view bytes);

// The body of /v1/stats. An error says what went wrong in words for people: no connection, no leave
// (401, 403), an answer that is none. Waits no longer than `patience` in all, and not once `stop`
// (-1: none) is readable.
sys::Result<std::string> fetch_stats(const ServiceAddress& address, const std::string& token,
                                     sys::Milliseconds patience, int stop);

}  // namespace cli
