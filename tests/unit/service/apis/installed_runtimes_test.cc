#include "service/apis/installed_runtimes.h"

#include <catch2/catch.hpp>

namespace service {
namespace {

std::string told(runtime::Loop& loop, InstalledRuntimes& runtimes) {
  std::string told;
  runtimes.get([&](const InstalledRuntimes::List& list) {
    told = list.json;
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

TEST_CASE("the text of the runtimes is read into records, once for all who ask", "[service]") {
  runtime::Loop loop;
  InstalledRuntimes runtimes(loop, [] {
    return std::pair(R"([{"name": "c", "version": "12.2.0", "how": "compiled", "available": true,
                          "aliases": ["gcc"], "extensions": ["c"]}])",
                     true);
  });
  const InstalledRuntime* first = nullptr;
  static_cast<void>(told(loop, runtimes));
  runtimes.get([&](const InstalledRuntimes::List& list) { first = &list.records.at(0); });
  REQUIRE(first);
  CHECK(first->name == "c");
  CHECK(first->available);
  CHECK(first->how == "compiled");
  CHECK(first->extensions == std::vector<std::string>{"c"});
  runtimes.get([&](const InstalledRuntimes::List& list) { CHECK(first == &list.records.at(0)); });
}

TEST_CASE("a field of a runtime with another type than expected keeps its default", "[service]") {
  CHECK(runtimes_in("nonsense").empty());
  CHECK(runtimes_in(R"({"name": "c"})").empty());
  const auto records = runtimes_in(R"([1, {"name": 2, "available": "yes", "aliases": ["a", 3],
                                      "extensions": "c", "version": null}])");
  REQUIRE(records.size() == 1);
  CHECK(records[0].name.empty());
  CHECK_FALSE(records[0].available);
  CHECK(records[0].aliases == std::vector<std::string>{"a"});
  CHECK(records[0].extensions.empty());
}

}  // namespace service
