#pragma once
// Homes: which of several routers has a job, and which one has the jobs of an idempotency key. They
// all know the same names, and need not speak with each other to agree. Pure.

#include <string>
#include <string_view>
#include <vector>

namespace cluster {

// 1 to 64 letters, digits, '.', '_' and '-': it stands in ids, which stand in URLs.
bool is_router_name(std::string_view name);

// The name of the router that gave this id ("j-0123abcd-east"); empty: it names none.
std::string_view router_in(std::string_view id);

// All of `routers`, in the order in which they take the jobs that a client sends with this key: the
// first, and where it cannot be reached the next one. Every router comes first for its share of the
// keys, and one that goes changes the first of no key but its own (Thaler and Ravishankar, "Using
// name-based mappings to increase hit rates", 1998).
std::vector<std::string> homes_of(std::vector<std::string> routers, std::string_view client,
                                  std::string_view key);

}  // namespace cluster
