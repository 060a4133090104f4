#include "service/http/request_parser.h"

#include <catch2/catch.hpp>

namespace service {
namespace {

constexpr std::string_view kPost =
    "POST /v1/jobs?async=1&x=a%2Bb+c HTTP/1.1\r\nHost: a\r\nX-Zygo-Patience: 2\r\n"
    "Content-Length: 5\r\n\r\nhello";

// The status of the refusal; 0 when there is none.
int refused(std::string_view text, ParserLimits limits = {}) {
  RequestParser parser(limits);
  parser.feed(text);
  return parser.state() == RequestParser::State::kBroken ? parser.refusal().status : 0;
}

}  // namespace

TEST_CASE("a request is the same in one piece and byte by byte", "[service][http]") {
  for (size_t piece : {size_t{1}, size_t{3}, kPost.size()}) {
    RequestParser parser({});
    for (size_t at = 0; at < kPost.size(); at += piece) parser.feed(kPost.substr(at, piece));

    REQUIRE(parser.state() == RequestParser::State::kComplete);
    const Request request = parser.take();
    CHECK(request.method == Method::kPost);
    CHECK(request.path == "/v1/jobs");
    CHECK(*request.query_value("x") == "a+b c");
    CHECK(*request.header("x-zygo-patience") == "2");
    CHECK(request.body == "hello");
    CHECK(request.keep_alive);
  }
}

TEST_CASE("what follows a request is left for the next one", "[service][http]") {
  const std::string both = std::string(kPost) + "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
  RequestParser parser({});

  const size_t taken = parser.feed(both);

  CHECK(taken == kPost.size());
  parser.take();
  CHECK(parser.feed(std::string_view(both).substr(taken)) == both.size() - taken);
  REQUIRE(parser.state() == RequestParser::State::kComplete);
  CHECK(parser.take().path == "/healthz");
}

TEST_CASE("a chunked body comes without its chunks", "[service][http]") {
  RequestParser parser({});
  parser.feed(
      "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nTrailer: of no use\r\n\r\n");

  REQUIRE(parser.state() == RequestParser::State::kComplete);
  const Request request = parser.take();
  CHECK(request.body == "abcdefg");
  CHECK(request.header("trailer") == nullptr);
}

TEST_CASE("a client that asks for leave to send its body asks once", "[service][http]") {
  RequestParser parser({});
  parser.feed("POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n");

  CHECK(parser.take_expectation());
  CHECK_FALSE(parser.take_expectation());
}

TEST_CASE("an offer to speak something else is passed over", "[service][http]") {
  RequestParser parser({});
  parser.feed("GET /a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");

  CHECK(parser.state() == RequestParser::State::kComplete);
}

TEST_CASE("what is no request of ours is refused by name", "[service][http]") {
  const std::string head = " HTTP/1.1\r\nHost: a\r\n";
  CHECK(refused("hello there\r\n\r\n") == 400);
  CHECK(refused(std::string("\x16\x03\x01\x02\x00\x01", 6)) == 400);
  CHECK(refused("GET /a HTTP/1.1\r\n\r\n") == 400);
  CHECK(refused("GET /a" + head + "Host: b\r\n\r\n") == 400);
  CHECK(refused("GET a" + head + "\r\n") == 400);
  CHECK(refused("GET /%zz" + head + "\r\n") == 400);
  CHECK(refused("GET /%00" + head + "\r\n") == 400);
  CHECK(refused("GET /%ff" + head + "\r\n") == 400);
  CHECK(refused("POST /a" + head + "Content-Length: 3\r\nContent-Length: 3\r\n\r\n") == 400);
  CHECK(refused("POST /a" + head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n") ==
        400);
  CHECK(refused("POST /a" + head + "Content-Length: -1\r\n\r\n") == 400);
  CHECK(refused("POST /a" + head + "Expect: cake\r\nContent-Length: 1\r\n\r\n") == 417);
  CHECK(refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == 505);
}

TEST_CASE("codings of a body that are not understood are refused", "[service][http]") {
  const std::string head = "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ";
  CHECK(refused(head + "gzip, chunked\r\n\r\n0\r\n\r\n") == 501);
  CHECK(refused(head + "gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == 501);
  CHECK(refused(head + "Chunked\r\n\r\n0\r\n\r\n") == 0);
}

TEST_CASE("a target in absolute form is its path, and names the host", "[service][http]") {
  RequestParser parser({});
  parser.feed("GET HTTP://evil.example:80/healthz?a=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");

  REQUIRE(parser.state() == RequestParser::State::kComplete);
  Request request = parser.take();
  CHECK(request.path == "/healthz");
  CHECK(request.query == decltype(request.query){{"a", "1"}});
  REQUIRE(request.header("host"));
  CHECK(*request.header("host") == "evil.example:80");

  parser.feed("GET http://a HTTP/1.1\r\nHost: a\r\n\r\n");
  REQUIRE(parser.state() == RequestParser::State::kComplete);
  CHECK(parser.take().path == "/");
  CHECK(refused("GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n") == 400);
  CHECK(refused("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n") == 400);
}

TEST_CASE("what is too large is refused before it is held", "[service][http]") {
  const std::string head = " HTTP/1.1\r\nHost: a\r\n";
  const ParserLimits small{.head = 256, .target = 16, .headers = 3, .body = 4};
  CHECK(refused("GET /" + std::string(16, 'a') + head + "\r\n", small) == 414);
  CHECK(refused("GET /" + head + "A: 1\r\nB: 2\r\nC: 3\r\n\r\n", small) == 431);
  CHECK(refused("GET /" + head + "A: " + std::string(300, 'a'), small) == 431);
  CHECK(refused(std::string(300, '\n'), small) == 431);
  CHECK(refused("POST /" + head + "Content-Length: 5\r\n\r\n", small) == 413);
  CHECK(refused("POST /" + head + "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n", small) ==
        413);
  CHECK(refused("POST /" + head + "Content-Length: 4\r\n\r\nabcd", small) == 0);
}

TEST_CASE("seconds are digits and nothing else", "[service][http]") {
  CHECK(read_seconds("1.5", 10) == 1.5);
  CHECK(read_seconds("0", 10) == 0.0);
  for (const char* wrong : {"", "-1", "11", "1e1", "nan", "inf", "1 ", "0x1"})
    CHECK_FALSE(read_seconds(wrong, 10));
}

}  // namespace service
