#include "service/router.h"

#include <iterator>
#include <optional>
#include <utility>

namespace service {

namespace {

// The parameter, if the path is of this pattern.
std::optional<std::string> parameter_of(std::string_view pattern, std::string_view path) {
  const size_t brace = pattern.find('{');
  if (brace == pattern.npos) {
    if (path != pattern) return std::nullopt;
    return "";
  }
  if (!path.starts_with(pattern.substr(0, brace))) return std::nullopt;
  std::string_view rest = path.substr(brace);
  const bool many = pattern.ends_with("...}");
  const std::string_view behind = pattern.substr(pattern.find('}') + 1);
  if (!rest.ends_with(behind)) return std::nullopt;
  rest.remove_suffix(behind.size());
  if (rest.empty() || (!many && rest.find('/') != rest.npos)) return std::nullopt;
  return std::string(rest);
}

}  // namespace

void Router::add(Routes routes) {
  routes_.insert(routes_.end(), std::make_move_iterator(routes.begin()),
                 std::make_move_iterator(routes.end()));
}

Match Router::match(Method method, std::string_view path) const {
  Request request;
  request.method = method;
  request.path = path;
  return match(request);
}

Match Router::match(const Request& request) const {
  Match result;
  for (const Route& route : routes_) {
    std::optional<std::string> parameter = parameter_of(route.pattern, request.path);
    if (!parameter || (route.is_for && !route.is_for(request))) continue;
    if (route.method == request.method) return {&route, *std::move(parameter), ""};
    result.allow += (result.allow.empty() ? "" : ", ") + std::string(name_of(route.method));
  }
  return result;
}

}  // namespace service
