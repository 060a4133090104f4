#include "cluster/link/join_url.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>

#include "runtime/values/utf8.h"

namespace cluster {

using sys::Error;
using sys::Result;

namespace {

constexpr std::string_view kHttp = "http://", kHttps = "https://", kUnix = "unix:";
constexpr uint16_t kHttpPort = 80, kHttpsPort = 443;
constexpr size_t kLongestName = 253;  // of the DNS
constexpr size_t kLongestPrefix = 1024;

Error unexpected(std::string_view text, std::string_view expected) {
  return Error::because(fmt::format("\"{}\": expected {}", text, expected));
}

bool is_name(std::string_view host) {
  const auto is_part = [](char c) {
    return runtime::is_alpha(c) || runtime::is_digit(c) || c == '-' || c == '.' || c == '_';
  };
  return !host.empty() && host.size() <= kLongestName &&
         std::all_of(host.begin(), host.end(), is_part);
}

bool is_ipv6(const std::string& host) {
  in6_addr address;
  return ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

// What a path may hold as it is (RFC 3986, 3.3).
bool is_prefix(std::string_view prefix) {
  constexpr std::string_view kMarks = "-._~!$&'()*+,;=:@/%";
  const auto is_part = [&](char c) {
    return runtime::is_alpha(c) || runtime::is_digit(c) || kMarks.find(c) != std::string_view::npos;
  };
  return prefix.size() <= kLongestPrefix && std::all_of(prefix.begin(), prefix.end(), is_part);
}

// "HOST[:PORT]" into the two.
Result<void> read_authority(std::string_view all, std::string_view authority, JoinUrl& into) {
  const bool in_brackets = authority.starts_with('[');
  size_t end = in_brackets ? authority.find(']') : authority.find(':');
  if (in_brackets && end == std::string_view::npos)
    return unexpected(all, "an IPv6 address in brackets, as in http://[::1]:8000");
  into.host = authority.substr(in_brackets ? 1 : 0, in_brackets ? end - 1 : end);
  if (in_brackets ? !is_ipv6(into.host) : !is_name(into.host)) {
    return unexpected(all, in_brackets ? "an IPv6 address in brackets, as in http://[::1]:8000"
                                       : "the name or address of a host, as in http://router:8000");
  }
  authority.remove_prefix(std::min(in_brackets ? end + 1 : end, authority.size()));
  if (authority.empty()) return {};
  const std::string_view port = authority.substr(1);
  const auto [last, error] = std::from_chars(port.data(), port.data() + port.size(), into.port);
  const bool is_port = authority.front() == ':' && error == std::errc() &&
                       last == port.data() + port.size() && into.port != 0;
  if (!is_port) return unexpected(all, "a port from 1 to 65535 behind the host");
  return {};
}

}  // namespace

std::string JoinUrl::authority() const {
  if (is_unix()) return "localhost";
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == (tls ? kHttpsPort : kHttpPort) ? name : fmt::format("{}:{}", name, port);
}

std::string JoinUrl::text() const {
  if (is_unix()) return std::string(kUnix) + path;
  return std::string(tls ? kHttps : kHttp) + authority() + prefix;
}

Result<JoinUrl> parse_join_url(std::string_view text) {
  JoinUrl url;
  if (text.starts_with(kUnix)) {
    url.path = text.substr(kUnix.size());
    constexpr size_t kLongestPath = sizeof(sockaddr_un::sun_path) - 1;
    const bool is_path = !url.path.empty() && url.path.size() <= kLongestPath &&
                         url.path.find('\0') == std::string::npos;
    if (!is_path) return unexpected(text, fmt::format("a path of 1 to {} bytes", kLongestPath));
    return url;
  }
  url.tls = text.starts_with(kHttps);
  if (!url.tls && !text.starts_with(kHttp))
    return unexpected(text, "http://HOST[:PORT], https://HOST[:PORT] or unix:PATH");
  url.port = url.tls ? kHttpsPort : kHttpPort;
  std::string_view rest = text.substr(url.tls ? kHttps.size() : kHttp.size());
  const size_t slash = std::min(rest.find('/'), rest.size());
  TRY(read_authority(text, rest.substr(0, slash), url));
  url.prefix = rest.substr(slash);
  while (url.prefix.ends_with('/')) url.prefix.pop_back();
  if (!is_prefix(url.prefix))
    return unexpected(text, "behind the host the path of a proxy or nothing, without ? and #");
  return url;
}

}  // namespace cluster
