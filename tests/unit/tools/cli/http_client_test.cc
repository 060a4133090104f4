#include "tools/cli/http_client.h"

#include <catch2/catch.hpp>

namespace cli {
namespace {

std::string host_of(const char* text) {
  auto address = parse_service_address(text);
  return address ? address->host + "|" + address->port + "|" + address->path : "";
}

}  // namespace

TEST_CASE("addresses of a service", "[cli][http]") {
  CHECK(host_of("http://127.0.0.1:8000") == "127.0.0.1|8000|");
  CHECK(host_of("http://127.0.0.1:8000/") == "127.0.0.1|8000|");
  CHECK(host_of("localhost:80") == "localhost|80|");
  CHECK(host_of("http://[::1]:8000") == "::1|8000|");
  CHECK(host_of("unix:/run/a") == "||/run/a");
  for (const char* wrong : {"", "unix:", "http://", "http://a", "https://a:1", "a:", ":1", "a:b",
                            "a:123456", "u@a:1", "http://a/b:1", "a\r\nb:1"})
    CHECK(host_of(wrong).empty());
}

TEST_CASE("an answer is taken apart, and what is none is refused", "[cli][http]") {
  const auto answer = parse_http_answer("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\r\n\r\n");
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->body == "body\r\n\r\n");
  for (const char* wrong : {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "\r\n\r\n",
                            "HTTP/2 200\r\n\r\n", "HTTP/1.\r\n\r\n", "HTTP/1.1 -20\r\n\r\n"})
    CHECK_FALSE(parse_http_answer(wrong));
}

}  // namespace cli
