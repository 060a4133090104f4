#include "service/admission/hosts.h"

#include <fmt/format.h>

#include <algorithm>

namespace service {

using sys::Error;
using sys::Result;

namespace {

// The zones of RFC 6761, RFC 6762 and ICANN's list of names that are never delegated; "svc" is
// Kubernetes' short form, and no public zone either.
constexpr std::string_view kPrivateZones[] = {".localhost", ".local", ".internal", ".svc"};

// The name in lower case, and without the dot that may end a whole name.
std::string plain(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

bool is_private(std::string_view name) {
  return name.find('.') == name.npos ||
         std::any_of(std::begin(kPrivateZones), std::end(kPrivateZones),
                     [name](std::string_view zone) { return name.ends_with(zone); });
}

}  // namespace

std::string_view name_in_host(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, std::min(host.find(']'), host.size() - 1) + 1);
  return host.substr(0, host.find(':'));
}

bool is_address(std::string_view name) {
  if (name == "localhost" || (name.starts_with('[') && name.ends_with(']'))) return true;
  const size_t last = name.rfind('.') + 1;  // of a name the last part is never a number
  return last > 0 && last < name.size() &&
         name.find_first_not_of("0123456789", last) == std::string_view::npos;
}

Result<void> Hosts::add(std::string_view name) {
  const std::string lower = plain(name);
  if (lower.empty() || !std::all_of(lower.begin(), lower.end(), is_name_character)) {
    return Error::because(
        fmt::format("\"{}\" is no name of a host; write e.g. zygo.example, without a port", name));
  }
  names_.push_back(lower);
  return {};
}

bool Hosts::knows(const Request& request, bool peer_is_this_host) const {
  const std::string* host = request.header("host");
  if (!host || host->empty()) return true;  // HTTP/1.0; every browser says one
  const std::string name = plain(name_in_host(*host));
  return is_address(name) || std::find(names_.begin(), names_.end(), name) != names_.end() ||
         (!peer_is_this_host && is_private(name));
}

}  // namespace service
