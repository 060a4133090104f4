#include "tools/cli/http_client.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/file.h"

namespace cli {
namespace {

std::string host_of(const char* text) {
  const auto url = parse_service_url(text);
  return url ? fmt::format("{}|{}|{}{}", url->host, url->port, url->prefix, url->path) : "";
}

// A unix socket of the test's own, which is also the service behind it.
class OneService {
 public:
  OneService() {
    REQUIRE(::mkdtemp(folder_));
    url.path = folder_ + std::string("/socket");
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    url.path.copy(name.sun_path, sizeof name.sun_path - 1);
    const auto* raw = reinterpret_cast<const sockaddr*>(&name);
    REQUIRE(::bind(listener_.get(), raw, sizeof name) == 0);
    REQUIRE(::listen(listener_.get(), 0) == 0);
    REQUIRE(::connect(first_.get(), raw, sizeof name) == 0);  // the queue is full
  }
  ~OneService() { std::filesystem::remove_all(folder_); }

  // Takes what waits in the queue, then says this to the next and returns what it asked.
  std::string serve(std::string_view answer) const {
    const sys::OwnedFd first(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const sys::OwnedFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::string asked;
    char byte = 0;
    while (!asked.ends_with("\r\n\r\n") && ::recv(client.get(), &byte, 1, 0) == 1) asked += byte;
    static_cast<void>(::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL));
    return asked;
  }

  cluster::JoinUrl url;

 private:
  char folder_[32] = "/tmp/zygo-http-XXXXXX";
  sys::OwnedFd listener_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sys::OwnedFd first_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

}  // namespace

TEST_CASE("addresses of a service", "[cli][http]") {
  CHECK(host_of("http://127.0.0.1:8000") == "127.0.0.1|8000|");
  CHECK(host_of("http://127.0.0.1:8000/") == "127.0.0.1|8000|");
  CHECK(host_of("localhost:80") == "localhost|80|");
  CHECK(host_of("http://[::1]:8000") == "::1|8000|");
  CHECK(host_of("unix:/run/a") == "|0|/run/a");
  CHECK(host_of("https://router.example") == "router.example|443|");
  CHECK(host_of("https://router.example:8443/") == "router.example|8443|");
  CHECK(host_of("https://[::1]") == "::1|443|");
  CHECK(host_of("http://router.example") == "router.example|80|");
  CHECK(host_of("https://judge.example/zygo/") == "judge.example|443|/zygo");
  CHECK(host_of("judge.example:80/zygo/a") == "judge.example|80|/zygo/a");
  CHECK(parse_service_url("https://a:1")->tls);
  CHECK_FALSE(parse_service_url("http://a:1")->tls);
  for (const char* wrong : {"", "here", "unix:", "http://", "https://", "https://a:b", "a:", ":1",
                            "a:b", "a:123456", "u@a:1", "http://a/b?c", "a\r\nb:1", "ftp://a:1"})
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

TEST_CASE("a service with a full queue is waited for, asked and heard to the end", "[cli][http]") {
  const OneService service;
  std::string asked;
  std::jthread thread([&] { asked = service.serve("HTTP/1.1 503 Busy\r\n\r\nlater"); });
  const auto answer = http_get(service.url, {"/readyz", "secret"}, sys::Milliseconds(60'000), -1);
  REQUIRE(answer);
  CHECK(answer->status == 503);
  CHECK(answer->body == "later");
  thread.join();
  CHECK(asked == "GET /readyz HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n\r\n");
}

TEST_CASE("behind a proxy the path begins with the prefix", "[cli][http]") {
  OneService service;
  service.url.prefix = "/zygo";
  std::string asked;
  std::jthread thread([&] { asked = service.serve("HTTP/1.1 200 OK\r\n\r\n"); });
  REQUIRE(http_get(service.url, {"/readyz", ""}, sys::Milliseconds(60'000), -1));
  thread.join();
  CHECK(asked.starts_with("GET /zygo/readyz HTTP/1.0\r\n"));
}

TEST_CASE("a service that never takes the connection is given up", "[cli][http]") {
  const OneService service;
  const auto answer = http_get(service.url, {"/readyz", ""}, sys::Milliseconds(20), -1);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().text() == "no answer in time");
}

TEST_CASE("a client that is told to stop waits for no answer", "[cli][http]") {
  const sys::Pipe stop = sys::make_pipe(0).value();
  REQUIRE(::write(stop.writer.get(), "", 1) == 1);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof to;
  const sys::OwnedFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&to), size) == 0);
  REQUIRE(::listen(listener.get(), 1) == 0);
  REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&to), &size) == 0);
  const cluster::JoinUrl url{.host = "127.0.0.1", .port = ntohs(to.sin_port)};
  const auto answer = http_get(url, {"/", ""}, sys::Milliseconds(60'000), stop.reader.get());
  REQUIRE_FALSE(answer);
  CHECK(answer.error().text() == "interrupted");
}

}  // namespace cli
