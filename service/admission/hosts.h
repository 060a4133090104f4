#pragma once
// Hosts: the names by which a service without tokens may be called. A page in a user's browser can
// have its own name point to this host (DNS rebinding); its requests are then of its own origin,
// but still carry its name. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"
#include "service/http/request.h"

namespace service {

// An address, or "localhost": stands for a host without anybody's DNS being asked. `name` is that
// of a Host header, without the port.
bool is_address(std::string_view name);
// "127.0.0.1:8000" without the port; "[::1]" keeps its brackets.
std::string_view name_in_host(std::string_view host);

class Hosts {
 public:
  // "zygo.example", without a port, or "*.zygo.example": every name below it, but not itself;
  // letters of either case mean the same.
  sys::Result<void> add(std::string_view name);

  const std::vector<std::string>& names() const { return names_; }

  // Was the request sent to a name that no stranger can have made to point here? Those are
  // addresses and the added names; for peers that are not of this host also names without a dot
  // and those in zones that no public DNS has, as containers and pods call each other.
  bool knows(const Request& request, bool peer_is_this_host) const;

 private:
  std::vector<std::string> names_;
};

}  // namespace service
