#pragma once
// The one HTTP client of the command line: one GET on a connection of its own. For `zygo top`,
// `zygo scale` and `zygo health`; runs in the caller's thread and owns nothing between requests.

#include <string>
#include <string_view>

#include "cluster/link/join_url.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace cluster {
class TlsContext;
}

namespace cli {

// "http://HOST[:PORT][/PREFIX]", "https://HOST[:PORT][/PREFIX]", "HOST:PORT[/PREFIX]" or
// "unix:PATH".
sys::Result<cluster::JoinUrl> parse_service_url(std::string_view text);

struct HttpAnswer {
  int status = 0;
  std::string body;
};
// All that a service sends until it closes the connection. Pure.
sys::Result<HttpAnswer> parse_http_answer(std::string_view bytes);

struct HttpRequest {
  std::string target;                        // "/healthz", behind the URL's prefix
  std::string token;                         // empty: none
  const cluster::TlsContext* tls = nullptr;  // of a URL with TLS, and there always
};
// Waits no longer than `patience` in all, and not once `stop` (-1: none) is readable.
sys::Result<HttpAnswer> http_get(const cluster::JoinUrl& url, const HttpRequest& request,
                                 sys::Milliseconds patience, int stop);

}  // namespace cli
