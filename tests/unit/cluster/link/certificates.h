#pragma once
// Certificates and keys that a test makes for itself, as files, and a TLS server over memory.

#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace cluster {

struct MadeCertificate {
  std::shared_ptr<X509> certificate;
  std::shared_ptr<EVP_PKEY> key;
  std::string certificate_pem() const;
  std::string key_pem() const;
};
// `names`: "DNS:router.test,IP:127.0.0.1"; empty: of an authority. Signed by its own key without an
// issuer. `from` and `to`: seconds from now.
MadeCertificate make_certificate(const std::string& common_name, const std::string& names,
                                 const MadeCertificate* issuer = nullptr, long from = -3600,
                                 long to = 3600);

// A folder that is gone with the test.
class CertificateFolder {
 public:
  CertificateFolder();
  ~CertificateFolder();
  std::string keep(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

class TlsServer {
 public:
  // `clients`: whoever must have vouched for a client; none: clients need no certificate.
  explicit TlsServer(const MadeCertificate& own, const MadeCertificate* clients = nullptr,
                     int newest = TLS1_3_VERSION);
  void feed(const std::string& bytes);  // and reads what they mean into `received`
  std::string take_output();
  void send(const std::string& bytes);
  void close();
  std::string client_name() const;  // of its certificate
  std::string asked_for() const;    // by SNI
  bool is_ready() const;

  std::string received, failure;
  bool ended = false;

 private:
  std::shared_ptr<SSL_CTX> context_;
  std::shared_ptr<SSL> session_;
};

}  // namespace cluster
