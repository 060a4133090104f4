#pragma once
// Cors: decides which foreign pages may send requests from a browser. None may, unless the operator
// names their origins. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"
#include "service/http/request.h"

namespace service {

class Cors {
 public:
  // "https://grader.example", with a port if it is not the usual one; or "*".
  sys::Result<void> add(std::string_view origin);

  bool anyone() const { return anyone_; }
  const std::vector<std::string>& origins() const { return origins_; }
  bool allows(const Request& request) const;  // it comes from such a page
  // Further headers of the answer to it; none for all other requests.
  Headers headers(const Request& request) const;
  // A browser asks before it sends such a request.
  bool is_preflight(const Request& request) const;
  static Response preflight_response();

 private:
  std::vector<std::string> origins_;
  bool anyone_ = false;
};

// A request of the page that this service itself has given out, at an address that stands for this
// host and nothing else: a name's owner could have made it point here.
bool is_own_page(const Request& request);

}  // namespace service
