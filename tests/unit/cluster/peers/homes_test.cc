// Which router has what.

#include "cluster/peers/homes.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace cluster {

TEST_CASE("homes: an id names the router that gave it", "[peers]") {
  CHECK(router_in("j-0123abcd-east") == "east");
  CHECK(router_in("b-0123abcd-router-2.example") == "router-2.example");
  for (const char* none : {"j-0123abcd", "j-", "", "x", "j-0123abcd-"})
    CHECK(router_in(none).empty());
}

TEST_CASE("homes: names of routers stand in URLs", "[peers]") {
  CHECK(is_router_name("router-2.example_A"));
  CHECK(is_router_name(std::string(64, 'a')));
  for (const std::string& wrong :
       std::vector<std::string>{"", std::string(65, 'a'), "a b", "a/b", "ä", "a?b", "a\n"})
    CHECK_FALSE(is_router_name(wrong));
}

TEST_CASE("homes: all routers agree, whatever order they know each other in", "[peers]") {
  const auto order = homes_of({"a", "b", "c"}, "client", "key");
  CHECK(homes_of({"c", "a", "b"}, "client", "key") == order);
  CHECK(order.size() == 3);
  CHECK(homes_of({"a"}, "client", "key") == std::vector<std::string>{"a"});
}

TEST_CASE("homes: clients and keys are told apart", "[peers]") {
  const std::vector<std::string> routers{"a", "b", "c", "d", "e", "f", "g", "h"};
  CHECK(homes_of(routers, "ab", "c") != homes_of(routers, "a", "bc"));
}

TEST_CASE("homes: each has its share of the keys, and one that goes leaves others' alone",
          "[peers]") {
  constexpr int kKeys = 3000;
  std::map<std::string, int> firsts;
  for (int i = 0; i < kKeys; ++i) {
    const std::string key = std::to_string(i);
    const auto of_three = homes_of({"a", "b", "c"}, "client", key);
    const auto of_two = homes_of({"a", "b"}, "client", key);
    ++firsts[of_three.front()];
    if (of_three.front() != "c") CHECK(of_two.front() == of_three.front());
    auto left = of_three;
    std::erase(left, "c");
    CHECK(left == of_two);
  }
  for (const auto& [router, count] : firsts) CHECK(std::abs(count - kKeys / 3) < kKeys / 20);
}

}  // namespace cluster
