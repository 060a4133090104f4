#include "tests/unit/cluster/link/certificates.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

namespace cluster {

namespace {

std::string text_of(BIO* memory) {
  std::string text(BIO_ctrl_pending(memory), '\0');
  BIO_read(memory, text.data(), static_cast<int>(text.size()));
  BIO_free(memory);
  return text;
}

void add_extension(X509* to, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  X509_EXTENSION* const made = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
  REQUIRE(made);
  REQUIRE(X509_add_ext(to, made, -1) == 1);
  X509_EXTENSION_free(made);
}

}  // namespace

std::string MadeCertificate::certificate_pem() const {
  BIO* const memory = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(memory, certificate.get());
  return text_of(memory);
}

std::string MadeCertificate::key_pem() const {
  BIO* const memory = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(memory, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return text_of(memory);
}

MadeCertificate make_certificate(const std::string& common_name, const std::string& names,
                                 const MadeCertificate* issuer, long from, long to) {
  MadeCertificate made{std::shared_ptr<X509>(X509_new(), X509_free),
                       std::shared_ptr<EVP_PKEY>(EVP_EC_gen("P-256"), EVP_PKEY_free)};
  X509* const x509 = made.certificate.get();
  static long serial = 0;
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(x509), from);
  X509_gmtime_adj(X509_getm_notAfter(x509), to);
  X509_set_pubkey(x509, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  X509* const by = issuer ? issuer->certificate.get() : x509;
  X509_set_issuer_name(x509, X509_get_subject_name(by));
  add_extension(x509, by, NID_basic_constraints, names.empty() ? "critical,CA:TRUE" : "CA:FALSE");
  if (!names.empty()) add_extension(x509, by, NID_subject_alt_name, names.c_str());
  REQUIRE(X509_sign(x509, issuer ? issuer->key.get() : made.key.get(), EVP_sha256()) > 0);
  return made;
}

CertificateFolder::CertificateFolder()
    : path_(std::filesystem::temp_directory_path() / "zygo-tls-XXXXXX") {
  REQUIRE(::mkdtemp(path_.data()));
}

CertificateFolder::~CertificateFolder() { std::filesystem::remove_all(path_); }

std::string CertificateFolder::keep(const std::string& name, const std::string& text) const {
  const std::string path = path_ + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TlsServer::TlsServer(const MadeCertificate& own, const MadeCertificate* clients, int newest)
    : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free) {
  REQUIRE(SSL_CTX_use_certificate(context_.get(), own.certificate.get()) == 1);
  REQUIRE(SSL_CTX_use_PrivateKey(context_.get(), own.key.get()) == 1);
  SSL_CTX_set_security_level(context_.get(), 0);  // for old versions
  SSL_CTX_set_min_proto_version(context_.get(), 0);
  SSL_CTX_set_max_proto_version(context_.get(), newest);
  if (clients) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), clients->certificate.get());
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  session_ = std::shared_ptr<SSL>(SSL_new(context_.get()), SSL_free);
  SSL_set_bio(session_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_accept_state(session_.get());
}

void TlsServer::feed(const std::string& bytes) {
  if (!bytes.empty())
    BIO_write(SSL_get_rbio(session_.get()), bytes.data(), static_cast<int>(bytes.size()));
  std::array<char, 16384> read;
  for (;;) {
    size_t size = 0;
    ERR_clear_error();
    const int done = SSL_read_ex(session_.get(), read.data(), read.size(), &size);
    if (done == 1) {
      received.append(read.data(), size);
      continue;
    }
    const int error = SSL_get_error(session_.get(), done);
    if (error == SSL_ERROR_ZERO_RETURN) ended = true;
    if (error == SSL_ERROR_SSL) failure = ERR_reason_error_string(ERR_peek_last_error());
    return;
  }
}

std::string TlsServer::take_output() {
  BIO* const output = SSL_get_wbio(session_.get());
  std::string bytes(BIO_ctrl_pending(output), '\0');
  if (!bytes.empty()) BIO_read(output, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

void TlsServer::send(const std::string& bytes) {
  REQUIRE(SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
          static_cast<int>(bytes.size()));
}

void TlsServer::close() { SSL_shutdown(session_.get()); }

bool TlsServer::is_ready() const { return SSL_is_init_finished(session_.get()) == 1; }

std::string TlsServer::asked_for() const {
  const char* const name = SSL_get_servername(session_.get(), TLSEXT_NAMETYPE_host_name);
  return name ? name : "";
}

std::string TlsServer::client_name() const {
  X509* const peer = SSL_get0_peer_certificate(session_.get());
  if (!peer) return "";
  std::array<char, 256> name{};
  X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, name.data(),
                            static_cast<int>(name.size()));
  return name.data();
}

}  // namespace cluster
