#include "service/router.h"

#include <catch2/catch.hpp>

namespace service {

TEST_CASE("a path is of the pattern whose words stand around its parameter", "[service]") {
  Router router;
  router.add({{Method::kDelete, "/v1/nodes/{node}", Scope::kJobs, nullptr},
              {Method::kPost, "/v1/nodes/{node}/run", Scope::kJobs, nullptr},
              {Method::kGet, "/files/{path...}", Scope::kJobs, nullptr}});

  const Match run = router.match(Method::kPost, "/v1/nodes/n-1/run");
  REQUIRE(run.route);
  CHECK(run.parameter == "n-1");
  CHECK(router.match(Method::kDelete, "/v1/nodes/n-1").parameter == "n-1");
  CHECK(router.match(Method::kGet, "/files/a/b").parameter == "a/b");

  CHECK(router.match(Method::kGet, "/v1/nodes/n-1/run").allow == "POST");
  for (const char* path : {"/v1/nodes/n-1/ran", "/v1/nodes//run", "/v1/nodes/run/",
                           "/v1/nodes/a/b/run", "/v1/nodes/", "/v1/nodes/n-1/run/run"}) {
    INFO(path);
    const Match none = router.match(Method::kPost, path);
    CHECK_FALSE(none.route);
    CHECK(none.allow.empty());
  }
}

TEST_CASE("a path that two have is the first's that the request is for", "[service]") {
  Router router;
  const auto names_one = [](const Request& request) { return request.header("x-id") != nullptr; };
  router.add({{Method::kPost, "/execute", Scope::kOpen, nullptr, Probe::kNo, names_one},
              {Method::kPost, "/execute", Scope::kJobs, nullptr},
              {Method::kGet, "/only", Scope::kOpen, nullptr, Probe::kNo, names_one}});
  Request request;
  request.method = Method::kPost;
  request.path = "/execute";

  CHECK(router.match(request).route->scope == Scope::kJobs);
  CHECK_FALSE(router.match(Method::kGet, "/only").route);
  request.headers = {{"x-id", "1"}};
  CHECK(router.match(request).route->scope == Scope::kOpen);
}

}  // namespace service
