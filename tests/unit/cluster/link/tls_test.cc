#include "cluster/link/tls.h"

#include <catch2/catch.hpp>

#include "tests/unit/cluster/link/certificates.h"

namespace cluster {
namespace {

using Catch::Contains;

struct House {
  CertificateFolder folder;
  MadeCertificate authority = make_certificate("authority", "");
  MadeCertificate router =
      make_certificate("router", "DNS:router.test,DNS:*.rack.test,IP:127.0.0.1,IP:::1", &authority);
  std::string ca_file = folder.keep("ca.pem", authority.certificate_pem());

  std::unique_ptr<const TlsContext> context(TlsFiles files = {}) const {
    if (files.ca.empty()) files.ca = ca_file;
    auto made = TlsContext::open(files);
    INFO((made ? "" : made.error().text()));
    REQUIRE(made);
    return std::move(made).value();
  }
};

// Until neither says anything more; the pieces are as long as `piece`. Why the client gave up.
std::string talk(TlsSession& client, TlsServer& server, size_t piece = size_t{1} << 20) {
  std::string why;
  for (;;) {
    const std::string there = client.take_output();
    server.feed(there);
    const std::string back = server.take_output();
    for (size_t at = 0; at < back.size() && why.empty(); at += piece) {
      const auto fed = client.feed(std::string_view(back).substr(at, piece));
      if (!fed) why = fed.error().text();
    }
    if (there.empty() && back.empty()) return why;
  }
}

std::string why_not(const House& house, const MadeCertificate& shown, const std::string& host) {
  TlsServer server(shown);
  const auto context = house.context();
  auto client = context->connect(host);
  REQUIRE(client);
  (*client)->send("secret");
  const std::string why = talk(**client, server);
  CHECK(server.received.empty());
  return why;
}

}  // namespace

TEST_CASE("a router is trusted that has the certificate of its host", "[cluster][tls]") {
  const House house;
  const auto context = house.context();
  const std::string host = GENERATE("router.test", "a.rack.test", "127.0.0.1", "::1");
  const int newest = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
  const size_t piece = GENERATE(size_t{1}, size_t{1} << 20);
  TlsServer server(house.router, nullptr, newest);
  auto client = context->connect(host);
  REQUIRE(client);
  (*client)->send("early");  // waits
  CHECK(talk(**client, server, piece).empty());
  CHECK(server.received == "early");
  const bool is_name = host.ends_with(".test");
  CHECK(server.asked_for() == (is_name ? host : ""));
  server.send("answer");
  CHECK(talk(**client, server, piece).empty());
  CHECK((*client)->take_received() == "answer");
  CHECK((*client)->take_received().empty());
}

TEST_CASE("much goes through TLS as it is", "[cluster][tls]") {
  const House house;
  const auto context = house.context();
  TlsServer server(house.router);
  auto client = context->connect("router.test");
  REQUIRE(client);
  std::string bytes(size_t{1} << 20, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 255);
  CHECK(talk(**client, server).empty());
  (*client)->send(bytes);
  server.send(bytes);
  (*client)->send("behind it");
  CHECK(talk(**client, server).empty());
  CHECK(server.received == bytes + "behind it");
  CHECK((*client)->take_received() == bytes);
}

TEST_CASE("a router that is another is not trusted", "[cluster][tls]") {
  const House house;
  CHECK(why_not(house, house.router, "other.test") ==
        "the router's certificate is not accepted for other.test: hostname mismatch");
  CHECK_THAT(why_not(house, house.router, "a.b.rack.test"), Contains("hostname mismatch"));
  CHECK_THAT(why_not(house, house.router, "127.0.0.2"), Contains("IP address mismatch"));
  const MadeCertificate partly = make_certificate("x", "DNS:rou*.test", &house.authority);
  CHECK_THAT(why_not(house, partly, "router.test"), Contains("hostname mismatch"));
  const MadeCertificate by_name = make_certificate("router.test", "DNS:x.test", &house.authority);
  CHECK_THAT(why_not(house, by_name, "router.test"), Contains("hostname mismatch"));
}

TEST_CASE("a router for which nobody vouches is not trusted", "[cluster][tls]") {
  const House house;
  const MadeCertificate stranger = make_certificate("authority", "");
  const std::string names = "DNS:router.test";
  CHECK_THAT(why_not(house, make_certificate("router", names, &stranger), "router.test"),
             Contains("not accepted for router.test"));
  CHECK_THAT(why_not(house, make_certificate("router", names), "router.test"),
             Contains("self-signed"));
  CHECK_THAT(why_not(house, make_certificate("router", names, &house.authority, -7200, -3600),
                     "router.test"),
             Contains("expired"));
  CHECK_THAT(why_not(house, make_certificate("router", names, &house.authority, 3600, 7200),
                     "router.test"),
             Contains("not yet valid"));
}

TEST_CASE("a certificate that is given is trusted, whoever signed it", "[cluster][tls]") {
  const House house;
  const MadeCertificate between = make_certificate("between", "", &house.authority);
  const MadeCertificate signed_by_itself = make_certificate("router", "DNS:router.test");
  const MadeCertificate signed_between = make_certificate("router", "DNS:router.test", &between);
  const bool by_itself = GENERATE(true, false);
  const MadeCertificate& given = by_itself ? signed_by_itself : between;
  const auto context = house.context({.ca = house.folder.keep("own.pem", given.certificate_pem())});
  TlsServer server(by_itself ? signed_by_itself : signed_between);
  auto client = context->connect("router.test");
  REQUIRE(client);
  CHECK(talk(**client, server).empty());
  CHECK(server.is_ready());
}

TEST_CASE("a pilot shows its own certificate", "[cluster][tls]") {
  const House house;
  const MadeCertificate pilot = make_certificate("pilot", "DNS:pilot.test", &house.authority);
  const std::string cert =
      house.folder.keep("cert.pem", pilot.certificate_pem() + house.authority.certificate_pem());
  const std::string key = house.folder.keep("key.pem", pilot.key_pem());
  const int newest = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
  const auto with = house.context({.cert = cert, .key = key});
  TlsServer server(house.router, &house.authority, newest);
  auto client = with->connect("router.test");
  REQUIRE(client);
  CHECK(talk(**client, server).empty());
  CHECK(server.is_ready());
  CHECK(server.client_name() == "pilot");

  const auto without = house.context();
  TlsServer strict(house.router, &house.authority, newest);
  auto nobody = without->connect("router.test");
  REQUIRE(nobody);
  CHECK_THAT(talk(**nobody, strict), Contains("TLS: ") && Contains("alert"));
  CHECK_FALSE(strict.failure.empty());
}

TEST_CASE("old versions of TLS are not spoken", "[cluster][tls]") {
  const House house;
  const auto context = house.context();
  TlsServer server(house.router, nullptr, TLS1_1_VERSION);
  auto client = context->connect("router.test");
  REQUIRE(client);
  CHECK_THAT(talk(**client, server), Contains("TLS: "));
  CHECK_FALSE(server.is_ready());
}

TEST_CASE("what is no TLS ends the session", "[cluster][tls]") {
  const House house;
  const auto context = house.context();
  auto client = context->connect("router.test");
  REQUIRE(client);
  CHECK_FALSE((*client)->take_output().empty());
  const auto fed = (*client)->feed("HTTP/1.1 400 Bad Request\r\n\r\n");
  REQUIRE_FALSE(fed);
  CHECK_THAT(fed.error().text(), Contains("TLS: "));
  CHECK((*client)->feed("more"));
  CHECK((*client)->take_received().empty());
}

TEST_CASE("either side can say that nothing more comes", "[cluster][tls]") {
  const House house;
  const auto context = house.context();
  TlsServer server(house.router);
  auto client = context->connect("router.test");
  REQUIRE(client);
  CHECK(talk(**client, server).empty());
  SECTION("the pilot") {
    (*client)->send("last");
    (*client)->close();
    CHECK(talk(**client, server).empty());
    CHECK(server.received == "last");
    CHECK(server.ended);
  }
  SECTION("the router") {
    server.send("last");
    server.close();
    CHECK(talk(**client, server).empty());
    CHECK((*client)->take_received() == "last");
    CHECK((*client)->is_ended());
  }
}

TEST_CASE("a file that is wrong is named when it is read", "[cluster][tls]") {
  const House house;
  const MadeCertificate pilot = make_certificate("pilot", "DNS:pilot.test", &house.authority);
  const std::string cert = house.folder.keep("cert.pem", pilot.certificate_pem());
  const std::string key = house.folder.keep("key.pem", pilot.key_pem());
  const std::string other = house.folder.keep("other.pem", house.router.key_pem());
  const std::string text = house.folder.keep("text", "no certificate\n");
  std::string pem = pilot.certificate_pem();
  pem[pem.size() / 2] = '!';
  const std::string broken = house.folder.keep("broken.pem", pem);
  const auto refusal = [](const TlsFiles& files) {
    const auto made = TlsContext::open(files);
    REQUIRE_FALSE(made);
    return made.error().text();
  };
  CHECK_THAT(refusal({.ca = house.ca_file + ".not"}), Contains("No such file"));
  CHECK_THAT(refusal({.ca = text}), Contains(text) && Contains("BEGIN CERTIFICATE"));
  CHECK_THAT(refusal({.ca = broken}), Contains(broken));
  CHECK_THAT(refusal({.ca = house.ca_file, .cert = cert}), Contains("both files or none"));
  CHECK_THAT(refusal({.ca = house.ca_file, .key = key}), Contains("both files or none"));
  CHECK_THAT(refusal({.ca = house.ca_file, .cert = text, .key = key}), Contains(text));
  CHECK_THAT(refusal({.ca = house.ca_file, .cert = cert, .key = text}),
             Contains(text) && Contains("PRIVATE KEY"));
  CHECK_THAT(refusal({.ca = house.ca_file, .cert = cert, .key = other}),
             Contains(other + " is not the key of " + cert));
}

}  // namespace cluster
