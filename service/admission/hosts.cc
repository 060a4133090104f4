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

// "*.zygo.example" has the names that end in ".zygo.example".
bool is_pattern(std::string_view name) { return name.starts_with("*."); }

bool is_one_of(std::string_view name, std::string_view allowed) {
  if (!is_pattern(allowed)) return name == allowed;
  const std::string_view end = allowed.substr(1);
  return name.size() > end.size() && name.ends_with(end);
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
  const std::string_view rest = is_pattern(lower) ? std::string_view(lower).substr(2) : lower;
  if (rest.empty() || !std::all_of(rest.begin(), rest.end(), is_name_character)) {
    return Error::because(
        fmt::format("\"{}\" is no name of a host; write e.g. zygo.example, without a port", name));
  }
  if (is_pattern(lower) && rest.find('.', 1) == rest.npos) {
    return Error::because(
        fmt::format("\"{}\" has names of strangers; write e.g. *.zygo.example", name));
  }
  names_.push_back(lower);
  return {};
}

bool Hosts::knows(const Request& request, bool peer_is_this_host) const {
  const std::string* host = request.header("host");
  if (!host || host->empty()) return true;  // HTTP/1.0; every browser says one
  const std::string name = plain(name_in_host(*host));
  const auto has = [&name](const std::string& allowed) { return is_one_of(name, allowed); };
  return is_address(name) || std::any_of(names_.begin(), names_.end(), has) ||
         (!peer_is_this_host && is_private(name));
}

}  // namespace service
