#include "cluster/callbacks/callback_url.h"

#include <catch2/catch.hpp>
#include <string>

namespace cluster {
namespace {

CallbackUrl read(const std::string& text) {
  auto url = parse_callback_url(text);
  INFO(text);
  REQUIRE(url);
  return *url;
}
JoinUrl place(const char* text) { return parse_join_url(text).value(); }

}  // namespace

TEST_CASE("callback url: an origin, and what is asked for there", "[callbacks]") {
  const CallbackUrl url = read("https://grader.example:8443/hooks/7?token=a%20b#top");
  CHECK(url.origin == place("https://grader.example:8443"));
  CHECK(url.target == "/hooks/7?token=a%20b");
  CHECK(read("http://grader.example").target == "/");
  CHECK(read("http://grader.example?a=/../b").target == "/?a=/../b");
  CHECK(read("http://[::1]:80/a").origin == place("http://[::1]"));
}

TEST_CASE("callback url: what is none is refused", "[callbacks]") {
  for (const std::string text : {"",
                                 "grader.example/hooks",
                                 "ftp://grader.example/",
                                 "unix:/run/x",
                                 "http://",
                                 "http:///a",
                                 "http://user:secret@grader.example/",
                                 "http://grader.example:0/",
                                 "http://grader.example/a b",
                                 "http://grader.example/a\r\nHost: other",
                                 "http://grader\t/",
                                 "http://grader.example/\x80",
                                 "http://grader.example/a\\b",
                                 "http://grader.example/..",
                                 "http://grader.example/hooks/../admin",
                                 "http://grader.example/hooks/%2e%2E/admin",
                                 "http://grader.example/hooks/.%2e",
                                 "http://grader.example/./hooks",
                                 "http://grader.example/hooks/..;a=b/admin",
                                 "http://grader.example/hooks/..%2fadmin",
                                 "http://grader.example/hooks/..%5Cadmin",
                                 "http://grader.example/hooks/%252e%252e/admin",
                                 "unix:a://b"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_callback_url(text));
  }
  CHECK_FALSE(parse_callback_url("http://grader.example/" + std::string(2048, 'a')));
  CHECK(parse_callback_url("http://grader.example/.../..a/.well-known/a.."));
}

TEST_CASE("callback url: it is below a place or it is not", "[callbacks]") {
  const JoinUrl hooks = place("http://grader.example/hooks");
  for (const char* text : {"http://grader.example/hooks", "http://grader.example/hooks/",
                           "http://grader.example:80/hooks/7", "http://grader.example/hooks?id=7"})
    CHECK(is_below(read(text), hooks));
  for (const char* text :
       {"http://grader.example/", "http://grader.example/hooks2", "http://grader.example/hook",
        "https://grader.example/hooks", "http://grader.example:81/hooks",
        "http://other.example/hooks", "http://grader.example/?/hooks"})
    CHECK_FALSE(is_below(read(text), hooks));
  CHECK(is_below(read("http://Grader.EXAMPLE/hooks"), hooks));
  CHECK(is_below(read("http://grader.example"), place("http://grader.example")));
  CHECK(is_below(read("http://grader.example/a?b"), place("http://grader.example/")));
}

TEST_CASE("callback place: what no callback could be below is refused", "[callbacks]") {
  CHECK(parse_callback_place("http://Grader.example:81/hooks/").value() ==
        place("http://grader.example:81/hooks"));
  CHECK(parse_callback_place("https://grader.example").value() == place("https://grader.example"));
  for (const char* text : {"x", "unix:/run/x", "http://x/a%2fb", "http://x/a/../b", "http://x?y",
                           "http://x/#y", "http://x:0"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_callback_place(text));
  }
}

}  // namespace cluster
