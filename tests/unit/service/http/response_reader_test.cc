// Answers of HTTP, as whoever passes them on reads them.

#include "service/http/response_reader.h"

#include <catch2/catch.hpp>

namespace service {
namespace {

using State = ResponseReader::State;

struct Read {
  State state;
  std::string body;
};
Read read(std::string_view bytes, bool ends = false) {
  ResponseReader reader;
  reader.feed(bytes);
  if (ends) reader.end();
  return {reader.state(), reader.take_body()};
}

}  // namespace

TEST_CASE("response: head and body, in any pieces", "[response]") {
  const std::string_view bytes =
      "HTTP/1.1 202 Accepted\r\nContent-Type:  application/json \r\nX-A:b\r\n"
      "Content-Length: 5\r\n\r\nhellorest";
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    INFO(piece);
    ResponseReader reader;
    std::string body;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      reader.feed(bytes.substr(at, piece));
      body += reader.take_body();
    }
    CHECK(reader.state() == State::kComplete);
    CHECK(reader.status() == 202);
    CHECK(reader.headers() ==
          Headers{{"content-type", "application/json"}, {"x-a", "b"}, {"content-length", "5"}});
    CHECK(body == "hello");
  }
}

TEST_CASE("response: a body has a length, chunks, or the end of the connection", "[response]") {
  const Read chunked = read(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Late: 1\r\n\r\n");
  CHECK(chunked.state == State::kComplete);
  CHECK(chunked.body == "abcde");
  CHECK(read("HTTP/1.1 200 OK\r\n\r\nabc").state == State::kBody);
  const Read to_the_end = read("HTTP/1.1 200 OK\r\n\r\nabc", true);
  CHECK(to_the_end.state == State::kComplete);
  CHECK(to_the_end.body == "abc");
  CHECK(read("HTTP/1.1 204 No Content\r\n\r\n").state == State::kComplete);
}

TEST_CASE("response: one that breaks off is none", "[response]") {
  for (const char* bytes :
       {"", "HTTP/1.1 200 OK\r\nX-A: b\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"}) {
    INFO(bytes);
    CHECK(read(bytes).state != State::kBroken);
    CHECK(read(bytes, true).state == State::kBroken);
  }
}

TEST_CASE("response: what is no answer, or was not asked for", "[response]") {
  for (const char* bytes : {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "nonsense\r\n\r\n",
                            "HTTP/1.1 100 Continue\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nx-zygo a: b\r\nContent-Length: 0\r\n\r\n",
                            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: "
                            "upgrade\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"}) {
    INFO(bytes);
    CHECK(read(bytes).state == State::kBroken);
  }
}

TEST_CASE("response: a head has a bound", "[response]") {
  ResponseReader reader;
  reader.feed("HTTP/1.1 200 OK\r\n");
  const std::string line = "X-A: " + std::string(1000, 'x') + "\r\n";
  size_t fed = 0;
  for (; fed < 2 * ResponseReader::kLongestHead && reader.state() == State::kHead;
       fed += line.size())
    reader.feed(line);
  CHECK(reader.state() == State::kBroken);
  CHECK(fed <= ResponseReader::kLongestHead + line.size());
  const std::string name(ResponseReader::kLongestHead + 1, 'x');
  CHECK(read("HTTP/1.1 200 OK\r\n" + name).state == State::kBroken);
}

}  // namespace service
