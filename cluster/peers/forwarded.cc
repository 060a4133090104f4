#include "cluster/peers/forwarded.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cluster {

using service::Headers;

namespace {

// Of the connection (RFC 9110, 7.6.1), of the body's length, and what the other side should not
// offer: answers are compressed for the client that gets them.
constexpr std::array<std::string_view, 12> kNotForwarded{
    "accept-encoding",  "connection", "content-length", "expect",  "host",
    "keep-alive",       "te",         "trailer",        "upgrade", "transfer-encoding",
    "proxy-connection", kForwardedBy};

constexpr std::array<std::string_view, 4> kPassedOn{"retry-after", "location",
                                                    "idempotent-replayed", "www-authenticate"};

// Everything but what RFC 3986 calls unreserved, and slashes where they may stand.
std::string percent_encoded(std::string_view text, bool is_path) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || (is_path && c == '/');
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string target_of(const service::Request& request, const JoinUrl& to) {
  std::string target = to.prefix + percent_encoded(request.path, true);
  char mark = '?';
  for (const auto& [name, value] : request.query) {
    target +=
        fmt::format("{}{}={}", mark, percent_encoded(name, false), percent_encoded(value, false));
    mark = '&';
  }
  return target;
}

}  // namespace

std::string forwarded_head(const service::Request& request, const JoinUrl& to,
                           std::string_view from) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", name_of(request.method),
                                 target_of(request, to), to.authority());
  for (const auto& [name, value] : request.headers) {
    if (std::ranges::find(kNotForwarded, name) == kNotForwarded.end())
      head += fmt::format("{}: {}\r\n", name, value);
  }
  if (!request.body.empty() || request.method == service::Method::kPost)
    head += fmt::format("Content-Length: {}\r\n", request.body.size());
  return head + fmt::format("{}: {}\r\nConnection: close\r\n\r\n", kForwardedBy, from);
}

Headers passed_on(const Headers& of_answer) {
  Headers some;
  for (const auto& [name, value] : of_answer) {
    const bool is_ours = name.starts_with("x-zygo-");
    if (is_ours || std::ranges::find(kPassedOn, name) != kPassedOn.end())
      some.emplace_back(name, value);
  }
  return some;
}

}  // namespace cluster
