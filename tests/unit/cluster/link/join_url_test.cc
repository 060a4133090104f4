#include "cluster/link/join_url.h"

#include <catch2/catch.hpp>

namespace cluster {
namespace {

JoinUrl read(const std::string& text) {
  const auto url = parse_join_url(text);
  INFO(text << ": " << (url ? "" : url.error().text()));
  REQUIRE(url);
  return *url;
}

}  // namespace

TEST_CASE("where a router listens is read as it is written", "[cluster][link]") {
  CHECK(read("http://router") == JoinUrl{.host = "router", .port = 80});
  CHECK(read("http://router:8000/") == JoinUrl{.host = "router", .port = 8000});
  CHECK(read("https://a-b.example_x.org") ==
        JoinUrl{.host = "a-b.example_x.org", .port = 443, .tls = true});
  CHECK(read("https://10.0.0.1:65535/zygo/v%201/") ==
        JoinUrl{.host = "10.0.0.1", .port = 65535, .tls = true, .prefix = "/zygo/v%201"});
  CHECK(read("http://[::1]") == JoinUrl{.host = "::1", .port = 80});
  CHECK(read("http://[fe80::1]:1/x") == JoinUrl{.host = "fe80::1", .port = 1, .prefix = "/x"});
  CHECK(read("unix:/run/zygo.sock") == JoinUrl{.path = "/run/zygo.sock"});
}

TEST_CASE("an address of a router is said as it is read", "[cluster][link]") {
  for (const char* text : {"http://router", "http://router:443", "https://router:80/zygo",
                           "https://[::1]:8443", "http://[::1]/a/b", "unix:x.sock"}) {
    const JoinUrl url = read(text);
    CHECK(url.text() == text);
    CHECK(read(url.text()) == url);
  }
  CHECK(read("http://router:80").authority() == "router");
  CHECK(read("https://router:80").authority() == "router:80");
  CHECK(read("http://[::1]:8000").authority() == "[::1]:8000");
  CHECK(read("unix:x.sock").authority() == "localhost");
}

TEST_CASE("what is no address of a router is refused with what was expected", "[cluster][link]") {
  const auto refusal = [](const std::string& text) {
    const auto url = parse_join_url(text);
    INFO(text);
    REQUIRE_FALSE(url);
    CHECK(url.error().text().starts_with('"' + text + '"'));
    return url.error().text();
  };
  using Catch::Contains;
  for (const char* text : {"", "router", "router:8000", "ws://router", "HTTP://router", "http:/a"})
    CHECK_THAT(refusal(text), Contains("http://HOST[:PORT]") && Contains("unix:PATH"));
  for (const char* text : {"http://", "http:///x", "http://:80", "http://a b", "http://a@b",
                           "http://a\r\nX: y", "https://\xc3\xbc", "http://::1"})
    CHECK_THAT(refusal(text), Contains("the name or address of a host"));
  for (const char* text : {"http://[::1", "http://[a]", "http://[]", "http://[127.0.0.1]"})
    CHECK_THAT(refusal(text), Contains("in brackets"));
  for (const char* text : {"http://a:", "http://a:0", "http://a:65536", "http://a:+1",
                           "http://a:1x", "http://[::1]x", "http://[::1]8000", "http://a:80:80"})
    CHECK_THAT(refusal(text), Contains("port from 1 to 65535"));
  for (const char* text : {"http://a/?x", "http://a/#x", "http://a/ b", "http://a/\r\nX: y"})
    CHECK_THAT(refusal(text), Contains("path of a proxy"));
  CHECK_THAT(refusal("http://a/" + std::string(1024, 'x')), Contains("path of a proxy"));
  CHECK_THAT(refusal("http://" + std::string(254, 'x')), Contains("the name or address"));
  CHECK_THAT(refusal("unix:"), Contains("1 to 107 bytes"));
  CHECK_THAT(refusal("unix:" + std::string(108, 'x')), Contains("1 to 107 bytes"));
}

}  // namespace cluster
