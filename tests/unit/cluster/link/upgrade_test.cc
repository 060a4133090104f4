#include "cluster/link/upgrade.h"

#include <catch2/catch.hpp>

#include "service/http/handshake.h"
#include "service/http/request_parser.h"

namespace cluster {
namespace {

using State = UpgradeAnswer::State;
using Catch::Contains;

constexpr const char* kKey = "dGhlIHNhbXBsZSBub25jZQ==";  // the standard's example
const std::string kOpens =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
    "sec-websocket-protocol: zygo.pilot\r\n\r\n";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  REQUIRE(text.find(what) != std::string::npos);
  return text.replace(text.find(what), what.size(), by);
}

// Read byte by byte: as soon as it is finished, and never otherwise than at once.
UpgradeAnswer read(const std::string& bytes, bool is_all = false) {
  const UpgradeAnswer whole = read_upgrade_answer(bytes, is_all, kKey);
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const auto part = read_upgrade_answer(std::string_view(bytes).substr(0, size),
                                          is_all && size == bytes.size(), kKey);
    if (part.state == State::kUnfinished) continue;
    CHECK(part.state == whole.state);
    CHECK(part.why == whole.why);
    CHECK(part.head == whole.head);
    break;
  }
  return whole;
}

std::string refusal(const std::string& bytes, bool is_all = false) {
  const UpgradeAnswer answer = read(bytes, is_all);
  CHECK(answer.state == State::kRefused);
  return answer.why;
}

std::string error_answer(const std::string& body) {
  return "HTTP/1.1 401 Unauthorized\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

}  // namespace

TEST_CASE("a service of ours takes what a pilot asks", "[cluster][link]") {
  const std::string key = new_upgrade_key();
  CHECK(key != new_upgrade_key());
  const JoinUrl to = *parse_join_url("http://[::1]:8000/behind/a/proxy");
  const auto request = upgrade_request(to, "secret", key);
  REQUIRE(request);
  service::RequestParser parser({.head = 4096, .target = 64, .headers = 16, .body = 64});
  CHECK(parser.feed(*request) == request->size());
  REQUIRE(parser.state() == service::RequestParser::State::kComplete);
  const service::Request read = parser.take();
  CHECK(read.path == "/behind/a/proxy/v1/pilots/join");
  REQUIRE(read.header("authorization"));
  CHECK(*read.header("authorization") == "Bearer secret");
  CHECK(*read.header("host") == "[::1]:8000");
  const auto headers = service::shake_hands(read, "zygo.pilot");
  REQUIRE(std::holds_alternative<service::Headers>(headers));
  std::string answer = "HTTP/1.1 101 Switching Protocols\r\n";
  for (const auto& [name, value] : std::get<service::Headers>(headers))
    answer += name + ": " + value + "\r\n";
  answer += "\r\n";
  const UpgradeAnswer opened = read_upgrade_answer(answer + "frames", false, key);
  CHECK(opened.state == State::kOpen);
  CHECK(opened.head == answer.size());
}

TEST_CASE("without a token nothing is said of one", "[cluster][link]") {
  const auto request = upgrade_request({.host = "a", .port = 80}, "", kKey);
  REQUIRE(request);
  CHECK(request->find("Authorization") == std::string::npos);
  CHECK(request->ends_with("zygo.pilot\r\n\r\n"));
}

TEST_CASE("a token that would be more than one header is no token", "[cluster][link]") {
  for (const char* token : {"a b", "a\r\nX: y", "a\n", "\xc3\xbc", "\x7f"})
    CHECK_FALSE(upgrade_request({.host = "a", .port = 80}, token, kKey));
}

TEST_CASE("a 101 opens only what was asked for", "[cluster][link]") {
  CHECK(read(kOpens).state == State::kOpen);
  CHECK(read(kOpens).head == kOpens.size());
  CHECK_THAT(refusal(replaced(kOpens, "s3pP", "s3pQ")), Contains("Sec-WebSocket-Accept"));
  CHECK_THAT(refusal(replaced(kOpens, "Accept:", "Except:")), Contains("Sec-WebSocket-Accept"));
  CHECK_THAT(refusal(replaced(kOpens, "\r\n\r\n", "\r\nSec-WebSocket-Accept: x\r\n\r\n")),
             Contains("Sec-WebSocket-Accept"));
  CHECK_THAT(refusal(replaced(kOpens, "WebSocket\r\n", "h2c\r\n")),
             Contains("none of a WebSocket"));
  CHECK_THAT(refusal(replaced(kOpens, "upgrade\r\n", "up\r\n")), Contains("none of a WebSocket"));
  CHECK_THAT(refusal(replaced(kOpens, "zygo.pilot", "zygo.attach")), Contains("zygo.pilot"));
  CHECK_THAT(refusal(replaced(kOpens, "sec-websocket-protocol: zygo.pilot\r\n", "")),
             Contains("zygo.pilot"));
  CHECK_THAT(refusal(replaced(kOpens, "\r\n\r\n",
                              "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n")),
             Contains("extensions"));
}

TEST_CASE("a refusal has the status, and what the router says of it", "[cluster][link]") {
  const std::string body = R"({"error":{"code":"unauthorized","message":"no such token"}})";
  CHECK(refusal(error_answer(body)) == "the router answers 401 Unauthorized: no such token");
  CHECK(refusal("HTTP/1.1 401 x\r\n\r\n" + body, true) ==
        "the router answers 401 Unauthorized: no such token");
  CHECK(refusal("HTTP/1.1 401 x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n" + body.substr(0, 5) +
                "\r\n" + "36;x=y\r\n" + body.substr(5) + "\r\n0\r\n\r\n") ==
        "the router answers 401 Unauthorized: no such token");
  CHECK(refusal("HTTP/1.0 404\r\nContent-Length: 0\r\n\r\n") == "the router answers 404 Not Found");
  CHECK(refusal("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}") == "the router answers 200 OK");
  for (const char* other : {"<html>", "[1]", R"({"error":"x"})", R"({"error":{"message":1}})"})
    CHECK(refusal(error_answer(other)) == "the router answers 401 Unauthorized");
  // Nothing that a terminal would take for more than text.
  CHECK(refusal(error_answer(R"({"error":{"message":"a\u001b[2Jb\r\nc\u202ed"}})")) ==
        "the router answers 401 Unauthorized: a [2Jb c d");
}

TEST_CASE("of a refusal a bounded part is read", "[cluster][link]") {
  const std::string endless = "HTTP/1.1 500 x\r\nContent-Length: 999999999999\r\n\r\n" +
                              std::string(kLongestAnswerBody, '[');
  CHECK(refusal(endless) == "the router answers 500 Internal Server Error");
  CHECK(read(endless.substr(0, endless.size() - 1)).state == State::kUnfinished);
  CHECK(refusal("HTTP/1.1 500 x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n" +
                std::string(kLongestAnswerBody, '[')) ==
        "the router answers 500 Internal Server Error");
  const std::string text = R"({"error":{"message":")" + std::string(2000, 'x') + R"("}})";
  CHECK(refusal(error_answer(text)).size() < 600);
  const std::string head = "HTTP/1.1 101 x\r\nX: ";
  CHECK_THAT(refusal(head + std::string(kLongestAnswerHead - head.size(), 'x')),
             Contains("too long"));
  CHECK(read(head + std::string(kLongestAnswerHead - head.size() - 1, 'x')).state ==
        State::kUnfinished);
}

TEST_CASE("what is no answer is refused", "[cluster][link]") {
  CHECK_THAT(refusal("", true), Contains("without an answer"));
  CHECK_THAT(refusal("HTTP/1.1 101 x\r\n", true), Contains("too early"));
  for (const char* head :
       {"SSH-2.0-x", "HTTP/2 200", "HTTP/1.1 99", "HTTP/1.1 1010", "HTTP/1.1 +10", "HTTP/1.x 101 x",
        "HTTP/1.1 101 x\r\nno header", "HTTP/1.1 101 x\r\n: x", "HTTP/1.1 101 x\r\na b: x",
        "HTTP/1.1 101 x\r\nA: x\r\n folded"})
    CHECK_THAT(refusal(std::string(head) + "\r\n\r\n"), Contains("no HTTP"));
}

}  // namespace cluster
