#include "cluster/peers/homes.h"

#include <algorithm>
#include <utility>

#include "images/sha256.h"

namespace cluster {

bool is_router_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
  });
}

std::string_view router_in(std::string_view id) {
  constexpr size_t kKind = 2;  // "j-", "b-"
  const size_t dash = id.size() < kKind ? id.npos : id.find('-', kKind);
  return dash == id.npos ? std::string_view() : id.substr(dash + 1);
}

std::vector<std::string> homes_of(std::vector<std::string> routers, std::string_view client,
                                  std::string_view key) {
  // Lengths tell where one ends and the next begins.
  const std::string of_key =
      std::to_string(client.size()) + ' ' + std::string(client) + std::string(key);
  std::vector<std::pair<std::string, std::string>> weighed;
  for (std::string& router : routers) {
    std::string weight = images::sha256_of(std::to_string(router.size()) + ' ' + router + of_key);
    weighed.emplace_back(std::move(weight), std::move(router));
  }
  std::ranges::sort(weighed, std::greater<>());
  std::vector<std::string> order;
  for (auto& [weight, router] : weighed) order.push_back(std::move(router));
  return order;
}

}  // namespace cluster
