// Tests of the command line's HTTP client with services that speak TLS.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <thread>

#include "cluster/link/tls.h"
#include "sandbox/sys/fd.h"
#include "tests/unit/cluster/link/certificates.h"
#include "tools/cli/http_client.h"

namespace cli {
namespace {

using Catch::Contains;
using cluster::MadeCertificate;

enum class End { kSaid, kCutOff };

// Listens on the loopback, for one client.
class TlsService {
 public:
  explicit TlsService(const MadeCertificate& own, const MadeCertificate* clients = nullptr)
      : session_(own, clients) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof to;
    REQUIRE(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&to), size) == 0);
    REQUIRE(::listen(listener_.get(), 1) == 0);
    REQUIRE(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&to), &size) == 0);
    url = {.host = "127.0.0.1", .port = ntohs(to.sin_port), .tls = true};
  }

  void serve(const std::string& answer, End end) {
    const sys::OwnedFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) return;
    const auto say = [&] {
      const std::string bytes = session_.take_output();
      (void)::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    };
    std::array<char, 4096> bytes;
    while (!session_.received.ends_with("\r\n\r\n")) {
      const ssize_t n = ::recv(client.get(), bytes.data(), bytes.size(), 0);
      if (n <= 0) return;
      session_.feed({bytes.data(), static_cast<size_t>(n)});
      say();
    }
    session_.send(answer);
    if (end == End::kSaid) session_.close();
    say();
  }

  // Nobody connects any more: whoever waits for that is awake.
  void close() { REQUIRE(::shutdown(listener_.get(), SHUT_RDWR) == 0); }

  const cluster::TlsServer& session() const { return session_; }
  cluster::JoinUrl url;

 private:
  cluster::TlsServer session_;
  sys::OwnedFd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

struct House {
  cluster::CertificateFolder folder;
  MadeCertificate authority = cluster::make_certificate("authority", "");
  MadeCertificate own = cluster::make_certificate("service", "IP:127.0.0.1", &authority);
  std::string ca_file = folder.keep("ca.pem", authority.certificate_pem());

  sys::Result<HttpAnswer> ask(TlsService& service, const std::string& answer, End end,
                              cluster::TlsFiles files = {}) const {
    files.ca = ca_file;
    const auto tls = cluster::TlsContext::open(files);
    REQUIRE(tls);
    std::thread thread([&] { service.serve(answer, end); });
    auto got =
        http_get(service.url, {"/v1/pilots", "secret", tls->get()}, sys::Milliseconds(60'000), -1);
    service.close();
    thread.join();
    return got;
  }
};

const std::string kWhole = "HTTP/1.1 200 OK\r\ncontent-Length: 4\r\n\r\nbody";

}  // namespace

TEST_CASE("a service is asked by TLS", "[cli][http][tls]") {
  const House house;
  const End end = GENERATE(End::kSaid, End::kCutOff);
  TlsService service(house.own);
  const auto answer = house.ask(service, kWhole, end);
  INFO((answer ? "" : answer.error().text()));
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->body == "body");
  CHECK_THAT(service.session().received, Contains("\r\nAuthorization: Bearer secret\r\n"));
}

TEST_CASE("a client that does not come is not waited for", "[cli][http][tls]") {
  const House house;
  TlsService service(house.own);
  service.url.port = 0;
  CHECK_FALSE(house.ask(service, kWhole, End::kSaid));
}

TEST_CASE("an answer by TLS that is cut off is none", "[cli][http][tls]") {
  const House house;
  const std::string cut =
      GENERATE(as<std::string>(), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody",
               "HTTP/1.1 200 OK\r\n\r\nbody", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nbody",
               "HTTP/1.1 200 OK\r\nContent-Length: 4");
  TlsService service(house.own);
  const auto answer = house.ask(service, cut, End::kCutOff);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().text() == "the connection has ended before the answer has");
}

TEST_CASE("a service that nobody vouches for hears no token", "[cli][http][tls]") {
  const House house;
  const MadeCertificate forged = cluster::make_certificate("service", "IP:127.0.0.1");
  const MadeCertificate elsewhere =
      cluster::make_certificate("service", "IP:127.0.0.2", &house.authority);
  for (const MadeCertificate* shown : {&forged, &elsewhere}) {
    TlsService service(*shown);
    const auto answer = house.ask(service, kWhole, End::kSaid);
    REQUIRE_FALSE(answer);
    CHECK_THAT(answer.error().text(), Contains("certificate is not accepted for 127.0.0.1"));
    CHECK(service.session().received.empty());
  }
}

TEST_CASE("a service that asks for a certificate gets the one that was named", "[cli][http][tls]") {
  const House house;
  const MadeCertificate operators = cluster::make_certificate("ada", "", &house.authority);
  TlsService service(house.own, &house.authority);
  const auto answer = house.ask(service, kWhole, End::kSaid,
                                {.cert = house.folder.keep("cert.pem", operators.certificate_pem()),
                                 .key = house.folder.keep("key.pem", operators.key_pem())});
  REQUIRE(answer);
  CHECK(service.session().client_name() == "ada");
  TlsService stranger(house.own, &house.authority);
  CHECK_FALSE(house.ask(stranger, kWhole, End::kSaid));
  CHECK(stranger.session().received.empty());
}

}  // namespace cli
