#include "service/jupyter/history.h"

#include <catch2/catch.hpp>

namespace service::jupyter {
namespace {

std::vector<std::string> codes(const nlohmann::json& answer) {
  std::vector<std::string> found;
  for (const auto& row : answer["history"]) found.push_back(row[2].dump());
  return found;
}

}  // namespace

TEST_CASE("history has the last cells, a range of them, or those like a pattern", "[jupyter]") {
  using Texts = std::vector<std::string>;
  History history;
  int64_t count = 0;
  for (const char* code : {"a", "b", "ab", "b"}) history.add(++count, code);
  CHECK(codes(history.answer({{"hist_access_type", "tail"}, {"n", 2}})) ==
        Texts{"\"ab\"", "\"b\""});
  CHECK(codes(history.answer({{"hist_access_type", "tail"}, {"n", 1}, {"output", true}})) ==
        Texts{"[\"b\",null]"});
  CHECK(codes(history.answer({{"hist_access_type", "range"}, {"start", 2}, {"stop", 4}})) ==
        Texts{"\"b\"", "\"ab\""});
  CHECK(codes(history.answer({{"hist_access_type", "range"}, {"session", 7}})).empty());
  const nlohmann::json search = {
      {"hist_access_type", "search"}, {"pattern", "*b"}, {"unique", true}};
  CHECK(codes(history.answer(search)) == Texts{"\"ab\"", "\"b\""});
  CHECK(codes(history.answer({{"hist_access_type", 1}})).empty());
}

TEST_CASE("history answers within bounds, the newest first to be told", "[jupyter]") {
  History history;
  for (int64_t count = 1; count <= 8; ++count) history.add(count, std::string(1 << 20, 'a'));
  history.add(9, "ab");
  CHECK(history.answer({{"hist_access_type", "tail"}})["history"].size() == 4);
  CHECK(history.answer({{"hist_access_type", "tail"}})["history"][3][1] == 9);
  // Each of them would take fnmatch() minutes.
  const std::string pattern = "*" + std::string(1 << 19, 'a') + "b";
  CHECK(history.answer({{"hist_access_type", "search"}, {"pattern", pattern}})["history"].empty());
  CHECK(history.answer({{"hist_access_type", "search"}, {"pattern", "*b"}})["history"].size() == 1);
}

}  // namespace service::jupyter
