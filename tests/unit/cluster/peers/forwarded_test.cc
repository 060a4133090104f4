// Requests and answers on their way between routers.

#include "cluster/peers/forwarded.h"

#include <catch2/catch.hpp>

#include "service/http/request_parser.h"

namespace cluster {
namespace {

using service::Headers;
using service::Method;
using service::Request;
using service::RequestParser;

const JoinUrl kTo{.host = "east", .port = 8000, .prefix = "/zygo"};

// As the other router reads it.
Request read(const std::string& bytes) {
  RequestParser parser({});
  CHECK(parser.feed(bytes) == bytes.size());
  REQUIRE(parser.state() == RequestParser::State::kComplete);
  return parser.take();
}

}  // namespace

TEST_CASE("forwarded: a request arrives as it came, with its token", "[peers]") {
  Request request{.method = Method::kPost,
                  .path = "/v1/jobs/j-1 ä?&%",
                  .query = {{"wait", "1.5"}, {"a b", "c&d=+é"}, {"empty", ""}},
                  .headers = {{"authorization", "Bearer secret"},
                              {"idempotency-key", "order 17"},
                              {"content-encoding", "gzip"}},
                  .body = std::string("a\0b\r\n", 5)};
  const Request arrived = read(forwarded_head(request, kTo, "west") + request.body);
  CHECK(arrived.method == Method::kPost);
  CHECK(arrived.path == "/zygo" + request.path);
  CHECK(arrived.query == request.query);
  CHECK(arrived.body == request.body);
  for (const auto& [name, value] : request.headers) CHECK(*arrived.header(name) == value);
  CHECK(*arrived.header("host") == "east:8000");
  CHECK(*arrived.header(kForwardedBy) == "west");
  CHECK_FALSE(arrived.keep_alive);
}

TEST_CASE("forwarded: what belongs to the connection stays", "[peers]") {
  Request request;
  request.method = Method::kGet;
  request.path = "/v1/jobs/j-1";
  for (const char* name : {"connection", "keep-alive", "transfer-encoding", "upgrade", "te",
                           "trailer", "expect", "accept-encoding", "proxy-connection"})
    request.headers.emplace_back(name, "chunked");
  request.headers.emplace_back("host", "west");
  request.headers.emplace_back("content-length", "17");
  request.headers.emplace_back(kForwardedBy, "somebody");
  const Request arrived = read(forwarded_head(request, {.path = "/run/zygo"}, "west"));
  CHECK(arrived.headers == Headers{{"host", "localhost"},
                                   {std::string(kForwardedBy), "west"},
                                   {"connection", "close"}});
}

TEST_CASE("forwarded: of an answer goes on what its client needs", "[peers]") {
  CHECK(passed_on({{"date", "x"},
                   {"content-length", "3"},
                   {"transfer-encoding", "chunked"},
                   {"connection", "close"},
                   {"set-cookie", "x"},
                   {"traceresponse", "x"},
                   {"access-control-allow-origin", "*"},
                   {"retry-after", "1"},
                   {"location", "/v1/jobs/j-1"},
                   {"idempotent-replayed", "true"},
                   {"x-zygo-jobs", "7"},
                   {"x-zygo-router", "east"}}) == Headers{{"retry-after", "1"},
                                                          {"location", "/v1/jobs/j-1"},
                                                          {"idempotent-replayed", "true"},
                                                          {"x-zygo-jobs", "7"},
                                                          {"x-zygo-router", "east"}});
}

}  // namespace cluster
