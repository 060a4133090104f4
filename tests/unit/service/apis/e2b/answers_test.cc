#include "service/apis/e2b/answers.h"

#include <catch2/catch.hpp>

#include "service/http/request.h"

namespace service::e2b {

namespace {

constexpr sys::Milliseconds kNoon{1'795'953'600'000};  // 2026-11-29T12:00:00Z

// One began each second from noon on; the last that began is the first of the list.
struct Listed {
  std::vector<Sandbox> sandboxes;
  std::string next;

  explicit Listed(int count) {
    for (int i = 0; i < count; ++i) {
      sandboxes.push_back({.id = "i" + std::to_string(i)});
      sandboxes.back().began = kNoon + std::chrono::seconds(i);
    }
  }
  std::vector<std::string> page(const std::string& query) {
    std::vector<const Sandbox*> all;
    for (auto each = sandboxes.rbegin(); each != sandboxes.rend(); ++each) all.push_back(&*each);
    Request request;
    REQUIRE(read_target("/v2/sandboxes?" + query, request));
    const Response response = list_response(std::move(all), request, {});
    if (response.status != 200) return {std::to_string(response.status)};
    next = response.headers.empty() ? "" : response.headers.front().second;
    std::vector<std::string> ids;
    for (const auto& each : nlohmann::json::parse(response.body))
      ids.push_back(each.at("sandboxID").get<std::string>());
    return ids;
  }
};

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("a page goes on where the one before it ended, though that sandbox has gone",
          "[apis][e2b]") {
  Listed list(5);
  CHECK(list.page("limit=2") == Ids{"i4", "i3"});
  std::erase_if(list.sandboxes, [](const Sandbox& each) { return each.id == "i2"; });
  CHECK(list.page("limit=2&nextToken=" + list.next) == Ids{"i1", "i0"});
  CHECK(list.next.empty());

  CHECK(list.page("limit=3&order=asc") == Ids{"i0", "i1", "i3"});
  CHECK(list.page("limit=3&order=asc&nextToken=" + list.next) == Ids{"i4"});
}

TEST_CASE("a list has those that began at a time or after it", "[apis][e2b]") {
  Listed list(3);
  for (const char* time :
       {"2026-11-29T12:00:01Z", "2026-11-29T12:00:01.000Z", "2026-11-29T13:00:01.0%2B01:00",
        "2026-11-29T11:00:00.9999-01:00", "2026-11-29T12:00:00.001+00:00"})
    CHECK(list.page(std::string("startedAfter=") + time) == Ids{"i2", "i1"});
}

TEST_CASE("a list that is asked for in other words is refused", "[apis][e2b]") {
  Listed list(1);
  for (const char* query :
       {"nextToken=i0", "nextToken=_", "nextToken=1", "order=up", "startedAfter=noon",
        "startedAfter=2026-11-29", "startedAfter=2026-13-29T12:00:00Z",
        "startedAfter=2026-11-29T12:00:00", "startedAfter=2026-11-29T12:00:00.5+1"})
    CHECK(list.page(query) == Ids{"400"});
  CHECK(list.page("order=desc&nextToken=&startedAfter=") == Ids{"i0"});
}

}  // namespace service::e2b
