#include <catch2/catch.hpp>
#include <optional>

#include "cluster/link/link.h"
#include "cluster/link/tls.h"
#include "tests/unit/cluster/link/certificates.h"
#include "tests/unit/cluster/link/router_end.h"

namespace cluster {
namespace {

using Catch::Contains;

struct SafelyJoined {
  CertificateFolder folder;
  MadeCertificate authority = make_certificate("authority", "");
  MadeCertificate own = make_certificate("router", "DNS:router.test", &authority);
  std::unique_ptr<const TlsContext> context;
  runtime::Loop loop;
  Told told;
  std::optional<RouterEnd> router;
  TlsServer server{own};
  std::unique_ptr<Link> link;

  explicit SafelyJoined(const std::string& host) {
    auto opened = TlsContext::open({.ca = folder.keep("ca.pem", authority.certificate_pem())});
    REQUIRE(opened);
    context = std::move(opened).value();
    StreamPair pair = stream_pair();
    router.emplace(std::move(pair.theirs));
    auto made =
        Link::start(loop, std::move(pair.ours), {.host = host, .port = 443, .tls = true}, "secret",
                    told, {.goodbye = sys::Milliseconds(1'000), .tls = context.get()});
    REQUIRE(made);
    link = std::move(made).value();
  }
  void until(const std::function<bool()>& is_so) {
    turn_until(loop, [&] {
      server.feed(router->take());
      router->say(server.take_output());
      return is_so();
    });
  }
  void open() {
    until([&] { return server.received.ends_with("\r\n\r\n"); });
    server.send(router->answer_to(std::exchange(server.received, {})));
    until([&] { return told.opened > 0; });
  }
};

}  // namespace

TEST_CASE("a link speaks TLS where its router does", "[cluster][tls][link]") {
  SafelyJoined joined("router.test");
  joined.link->send("early");
  joined.open();
  joined.link->send(std::string(100'000, 'x'));
  std::vector<std::string> heard;
  joined.until([&] {
    joined.router->frames.feed(std::exchange(joined.server.received, {}));
    while (auto message = joined.router->frames.take()) heard.push_back(message->bytes);
    return heard.size() == 2;
  });
  CHECK(heard == std::vector<std::string>{"early", std::string(100'000, 'x')});
  joined.router->frames.send_bytes("answer");
  joined.server.send(joined.router->frames.take_output());
  joined.until([&] { return !joined.told.messages.empty(); });
  CHECK(joined.told.messages.front() == "answer");
  joined.link->close(1001, "leaving");
  joined.until([&] { return joined.server.ended; });
  joined.router->frames.feed(joined.server.received);
  CHECK(joined.router->frames.reason_of_peer() == "leaving");
  joined.router->hang_up();
  turn_until(joined.loop, [&] { return joined.told.overs > 0; });
  CHECK(joined.told.why == "closed: leaving");
}

TEST_CASE("a link tells no token to a router that it cannot trust", "[cluster][tls][link]") {
  SafelyJoined joined("other.test");
  joined.until([&] { return joined.told.overs > 0; });
  CHECK(joined.told.why ==
        "the router's certificate is not accepted for other.test: hostname mismatch");
  CHECK(joined.server.received.empty());
  joined.until([&] { return !joined.server.failure.empty(); });  // the router hears of it, too
}

TEST_CASE("a router's end of TLS is the end of the link", "[cluster][tls][link]") {
  SafelyJoined joined("router.test");
  joined.open();
  joined.server.close();
  joined.until([&] { return joined.told.overs > 0; });
  CHECK_THAT(joined.told.why, Contains("without a word"));
}

TEST_CASE("https without a context for TLS is no plain HTTP", "[cluster][tls][link]") {
  runtime::Loop loop;
  Told told;
  StreamPair pair = stream_pair();
  const auto link = Link::start(loop, std::move(pair.ours), {.host = "a", .port = 443, .tls = true},
                                "secret", told, {});
  REQUIRE_FALSE(link);
  CHECK_THAT(link.error().text(), Contains("TLS"));
}

}  // namespace cluster
