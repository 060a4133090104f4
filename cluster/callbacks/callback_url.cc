#include "cluster/callbacks/callback_url.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace cluster {

using sys::Error;
using sys::Result;

namespace {

constexpr size_t kLongest = 2048;

char lower(unsigned char c) { return static_cast<char>(std::tolower(c)); }

// Nothing that ends a line or a word of HTTP (RFC 9112, 3), or that nobody writes unencoded.
bool is_plain(std::string_view text) {
  constexpr std::string_view kNever = "\"<>\\^`{|}";
  return std::ranges::all_of(
      text, [&](char c) { return c > ' ' && c < 0x7f && kNever.find(c) == kNever.npos; });
}

// "." and "..", in any writing, lead out of a prefix for whoever resolves them; some do so before
// they look at parameters.
bool is_dots(std::string_view segment) {
  segment = segment.substr(0, segment.find(';'));
  size_t dots = 0;
  while (!segment.empty()) {
    const bool is_encoded = segment.starts_with("%2e") || segment.starts_with("%2E");
    if (!is_encoded && segment.front() != '.') return false;
    segment.remove_prefix(is_encoded ? 3 : 1);
    ++dots;
  }
  return dots == 1 || dots == 2;
}

// A slash that is no slash for all, or what could become one when it is decoded twice.
bool has_hidden_slash(std::string_view path) {
  std::string low(path);
  std::ranges::transform(low, low.begin(), lower);
  return std::ranges::any_of(std::array{"%2f", "%5c", "%25"},
                             [&low](const char* each) { return low.find(each) != low.npos; });
}

bool has_dots(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);  // '/'
    const std::string_view segment = path.substr(0, path.find('/'));
    if (is_dots(segment)) return true;
    path.remove_prefix(segment.size());
  }
  return false;
}

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

}  // namespace

Result<CallbackUrl> parse_callback_url(std::string_view text) {
  if (text.size() > kLongest) return Error::because("is too long for a URL");
  if (!is_plain(text)) return Error::because("has a character that no URL has");
  constexpr std::string_view kScheme = "://";
  const size_t scheme = text.find(kScheme);
  if (scheme == text.npos) return Error::because("is no URL of http or https");
  const size_t end = text.find_first_of("/?#", scheme + kScheme.size());
  CallbackUrl url;
  Result<JoinUrl> origin = parse_join_url(text.substr(0, end));
  if (!origin) return Error::because("is no URL of http or https with a host");
  url.origin = std::move(origin).value();
  std::ranges::transform(url.origin.host, url.origin.host.begin(), lower);
  const std::string_view rest = end == text.npos ? "" : text.substr(end);
  url.target = rest.substr(0, rest.find('#'));
  if (!url.target.starts_with('/')) url.target.insert(0, 1, '/');
  if (url.origin.is_unix()) return Error::because("is no URL of http or https with a host");
  if (has_hidden_slash(path_of(url.target)))
    return Error::because("has an encoded slash, backslash or percent sign in its path");
  if (has_dots(path_of(url.target))) return Error::because("has a path with . or .. in it");
  return url;
}

Result<JoinUrl> parse_callback_place(std::string_view text) {
  if (text.find_first_of("?#") != text.npos) return Error::because("has more than a path");
  const CallbackUrl url = TRY(parse_callback_url(text));
  JoinUrl place = url.origin;
  place.prefix = url.target;
  while (place.prefix.ends_with('/')) place.prefix.pop_back();
  return place;
}

bool is_below(const CallbackUrl& url, const JoinUrl& place) {
  JoinUrl origin = place;
  origin.prefix.clear();
  if (!(origin == url.origin)) return false;
  const std::string_view path = path_of(url.target);
  if (!path.starts_with(place.prefix)) return false;
  return path.size() == place.prefix.size() || place.prefix.empty() ||
         path[place.prefix.size()] == '/';
}

}  // namespace cluster
