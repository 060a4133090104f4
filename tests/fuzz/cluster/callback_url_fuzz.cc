// Where a client of Judge0's API wants to be told: what is taken for a URL is one line of a request
// as it is, and leads out of no place.

#include "cluster/callbacks/callback_url.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto url = cluster::parse_callback_url(text);
  if (!url) return 0;
  VERIFY(url->target.starts_with('/') && url->origin.prefix.empty() && !url->origin.is_unix());
  for (const char c : url->target + url->origin.authority()) VERIFY(c > ' ' && c < 0x7f);
  const std::string_view path = std::string_view(url->target).substr(0, url->target.find('?'));
  VERIFY((std::string(path) + "/").find("/../") == std::string::npos);
  VERIFY(cluster::is_below(*url, url->origin));
  cluster::JoinUrl place = url->origin;
  place.prefix = "/hooks";
  const bool is_there = path == "/hooks" || path.starts_with("/hooks/");
  VERIFY(cluster::is_below(*url, place) == is_there);
  place.host += "x";
  VERIFY(!cluster::is_below(*url, place));
  // The text of a URL reads as the same URL; a slash may have come to it.
  if (text.size() > 2000) return 0;
  const auto again = cluster::parse_callback_url(url->origin.text() + url->target);
  VERIFY(again && again->target == url->target && again->origin == url->origin);
  return 0;
}
