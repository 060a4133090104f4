#pragma once
// Router: finds the handler of a request's method and path. Pure but for the handlers.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "service/admission/tokens.h"
#include "service/http/exchange.h"
#include "service/http/request.h"

namespace service {

// Answers the exchange, now or later. `parameter`: what stands in the braces of the pattern.
using Handler = std::function<void(const ExchangePtr& exchange, const std::string& parameter)>;

// A probe of health is served even when there are more connections than may be.
enum class Probe : uint8_t { kNo, kYes };

struct Route {
  Method method;
  // "/v1/jobs/{id}", "/v1/nodes/{node}/run": one parameter at most. Of "{path...}", which ends the
  // pattern, it may have slashes.
  std::string_view pattern;
  Scope scope;  // that a token needs
  Handler handle;
  Probe probe = Probe::kNo;
  // Whether this request is for it, where others have the path, too; none: any is.
  std::function<bool(const Request&)> is_for = nullptr;
};
using Routes = std::vector<Route>;

struct Match {
  const Route* route = nullptr;
  std::string parameter;
  std::string allow;  // no route: the methods that this path has; empty: there is no such path
};

class Router {
 public:
  void add(Routes routes);
  Match match(const Request& request) const;
  // Of a request that says nothing else.
  Match match(Method method, std::string_view path) const;

 private:
  Routes routes_;
};

}  // namespace service
