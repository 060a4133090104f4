#include "service/apis/parsed.h"

#include <catch2/catch.hpp>

namespace service {

using nlohmann::json;

TEST_CASE("a request is read as the tree that it is", "[apis]") {
  for (const char* text :
       {"null", "7", "-7", "1.5", R"("a")", "[]", "{}", R"([[1,{"a":[true]}],{"b":null,"c":""}])",
        R"({"a":{"b":[{"c":18446744073709551615}]},"d":[[],[]]})"}) {
    CAPTURE(text);
    CHECK(parsed(text, 9) == json::parse(text));
  }
  CHECK(parsed(R"({"a":[1],"a":2})") == json({{"a", 2}}));
}

TEST_CASE("values that are too deep are left out", "[apis]") {
  CHECK(parsed(R"({"a":[[1],2,{"b":3}],"c":4})", 1) == json({{"a", json::array()}, {"c", 4}}));
  CHECK(parsed(R"({"a":[[1],2,{"b":3}],"c":4})", 2) == json::parse(R"({"a":[[],2,{}],"c":4})"));
  CHECK(parsed(std::string(100'000, '[') + std::string(100'000, ']'), 1) ==
        json::array({json::array()}));
}

TEST_CASE("bytes that are no JSON are no request", "[apis]") {
  for (const char* text : {"", "{", "[1] 2", "{\"a\":}", "\"\xff\"", "1e999", "[1,]", "nul"})
    CHECK(parsed(text).is_discarded());
}

TEST_CASE("a request has a number of values that is bounded, and so is what it takes", "[apis]") {
  const auto list_of = [](size_t count) {
    std::string text = "[{}";
    for (size_t i = 1; i < count; ++i) text += ",{}";
    return text + "]";
  };
  CHECK(parsed(list_of(kMostValues - 1)).size() == kMostValues - 1);
  CHECK(parsed(list_of(kMostValues)).is_discarded());
  CHECK(parsed(R"({"a":)" + list_of(kMostValues) + "}", 1) == json({{"a", json::array()}}));
}

}  // namespace service
