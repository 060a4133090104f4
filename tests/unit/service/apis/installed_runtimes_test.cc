#include "service/apis/installed_runtimes.h"

#include <catch2/catch.hpp>

namespace service {
namespace {

std::string told(runtime::Loop& loop, InstalledRuntimes& runtimes) {
  std::string told;
  runtimes.get([&](const std::string& json) {
    told = json;
    loop.stop();
  });
  loop.run();
  return told;
}

}  // namespace

TEST_CASE("runtimes that cannot be asked for are an empty list, until they can", "[service]") {
  runtime::Loop loop;
  std::pair<std::string, bool> found{"", false};
  InstalledRuntimes runtimes(loop, [&] { return found; });
  CHECK(told(loop, runtimes) == "[]\n");
  found = {"", true};
  CHECK(told(loop, runtimes) == "[]\n");
  found = {"[1]", false};
  CHECK(told(loop, runtimes) == "[1]");
  found = {"[1, 2]", true};
  CHECK(told(loop, runtimes) == "[1, 2]");
}

}  // namespace service
