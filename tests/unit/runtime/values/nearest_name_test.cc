#include "runtime/values/nearest_name.h"

#include <array>
#include <catch2/catch.hpp>
#include <string>

using runtime::nearest_name;

TEST_CASE("the nearest name is one that the other begins, or a typing error away") {
  constexpr auto kNames =
      std::to_array<std::string_view>({"run", "batch", "serve", "--memory", "--memory-swap"});
  CHECK(nearest_name("rnu", kNames) == "run");
  CHECK(nearest_name("rum", kNames) == "run");
  CHECK(nearest_name("bacth", kNames) == "batch");
  CHECK(nearest_name("serv", kNames) == "serve");
  CHECK(nearest_name("server", kNames) == "serve");
  CHECK(nearest_name("--memroy", kNames) == "--memory");
}

TEST_CASE("what is far from all of them is told nothing") {
  constexpr auto kNames = std::to_array<std::string_view>({"run", "batch"});
  CHECK(nearest_name("", kNames).empty());
  CHECK(nearest_name("x", kNames).empty());
  CHECK(nearest_name("nur", kNames).empty());
  CHECK(nearest_name("selfcheck", kNames).empty());
  CHECK(nearest_name(std::string(100000, 'r'), kNames).empty());
  CHECK(nearest_name("run", {}).empty());
}
