#include "cluster/router/known_runtimes.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using cluster::KnownRuntimes;
using nlohmann::json;

TEST_CASE("pilots' languages are told once, as those that have them say", "[cluster]") {
  KnownRuntimes known;
  CHECK(known.json().empty());
  CHECK(known.add(1, R"([{"name":"c","available":false},{"name":"python","available":true}])"));
  CHECK(known.add(2, R"([{"name":"c","available":true,"version":"gcc 12","other":[[]]}])"));
  const json all = json::parse(known.json());
  REQUIRE(all.size() == 2);
  CHECK(all[0]["name"] == "c");
  CHECK(all[0]["available"] == true);
  CHECK(all[0]["version"] == "gcc 12");
  CHECK_FALSE(all[0].contains("other"));
  known.remove(2);
  CHECK(json::parse(known.json())[0]["available"] == false);
  known.remove(1);
  known.remove(1);
  CHECK(known.json().empty());
}

TEST_CASE("what is no list of languages is refused, however deep or long", "[cluster]") {
  KnownRuntimes known;
  for (const std::string& text : {std::string(), std::string("{}"), std::string("[{\"name\":"),
                                  "[\"" + std::string(KnownRuntimes::kLongest, 'x') + "\"]"})
    CHECK_FALSE(known.add(1, text));
  const std::string deep =
      R"([{"name":"deep","a":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}]";
  CHECK(known.add(1, deep));
  CHECK(json::parse(known.json()) == json::parse(R"([{"name":"deep","available":false}])"));
  std::string wide = R"([{"name":"wide")";
  for (int i = 0; i < 10'000; ++i) wide += ",\"k" + std::to_string(i) + "\":0";
  CHECK(known.add(1, wide + "}]"));
  CHECK(known.add(1, "[{\"name\":\"\xff\"}]") == false);
}
