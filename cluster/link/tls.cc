#include "cluster/link/tls.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <utility>
#include <vector>

#include "sandbox/sys/file.h"

namespace cluster {

using sys::Error;
using sys::Result;

namespace {

constexpr size_t kLongestFile = size_t{16} << 20;

// Where systems keep the certificates that they trust, in one file.
constexpr const char* kSystemFiles[] = {
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Arch, Alpine
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora and its relatives
    "/etc/ssl/ca-bundle.pem",            // SUSE
    "/etc/ssl/cert.pem",
};

template <typename T, void (*Free)(T*)>
struct FreedBy {
  void operator()(T* each) const { Free(each); }
};
using Certificate = std::unique_ptr<X509, FreedBy<X509, X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY, EVP_PKEY_free>>;
using Memory = std::unique_ptr<BIO, FreedBy<BIO, BIO_free_all>>;

// The last thing that OpenSSL was not content with.
std::string reason_of_openssl() {
  const unsigned long code = ERR_peek_last_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason ? reason : "no reason is given";
}

Memory memory_of(const std::string& text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Nobody is asked for a password.
int no_password(char*, int, int, void*) { return -1; }

Result<std::vector<Certificate>> certificates_in(const std::string& file) {
  const std::string text = TRY(sys::read_file(file, kLongestFile));
  const Memory memory = memory_of(text);
  std::vector<Certificate> found;
  ERR_clear_error();
  while (X509* each = PEM_read_bio_X509(memory.get(), nullptr, no_password, nullptr))
    found.emplace_back(each);
  const bool is_read_whole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (!is_read_whole) return Error::because(fmt::format("{}: {}", file, reason_of_openssl()));
  if (found.empty())
    return Error::because(file + ": expected certificates in PEM (BEGIN CERTIFICATE)");
  return found;
}

Result<void> trust(SSL_CTX* context, const std::string& file) {
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  for (const Certificate& each : TRY(certificates_in(file))) {
    if (X509_STORE_add_cert(store, each.get()) != 1)
      return Error::because(fmt::format("{}: {}", file, reason_of_openssl()));
  }
  // Whoever is in the file may vouch, also where it is no root.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  return {};
}

Result<void> trust_the_system(SSL_CTX* context) {
  if (const char* const named = std::getenv("SSL_CERT_FILE"); named && *named)
    return trust(context, named);
  for (const char* each : kSystemFiles) {
    if (sys::open(each, O_RDONLY)) return trust(context, each);
  }
  return Error::because(
      "this system has no file of certificates that it trusts; give one by "
      "--ca-file");
}

Result<void> identify(SSL_CTX* context, const TlsFiles& files) {
  if (files.cert.empty() || files.key.empty())
    return Error::because("a certificate and its key belong together: give both files or none");
  std::vector<Certificate> chain = TRY(certificates_in(files.cert));
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1)
    return Error::because(fmt::format("{}: {}", files.cert, reason_of_openssl()));
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1)
      return Error::because(fmt::format("{}: {}", files.cert, reason_of_openssl()));
  }
  std::string text = TRY(sys::read_file(files.key, kLongestFile));
  const Memory memory = memory_of(text);
  const Key key(PEM_read_bio_PrivateKey(memory.get(), nullptr, no_password, nullptr));
  OPENSSL_cleanse(text.data(), text.size());
  if (!key) {
    return Error::because(files.key +
                          ": expected a private key in PEM that is not encrypted (BEGIN PRIVATE "
                          "KEY)");
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1)  // compares the two
    return Error::because(fmt::format("{} is not the key of {}", files.key, files.cert));
  return {};
}

bool is_address(const std::string& host) {
  in6_addr address;
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

}  // namespace

TlsContext::TlsContext(ssl_ctx_st* context) : context_(context, SSL_CTX_free) {}

Result<std::unique_ptr<const TlsContext>> TlsContext::open(const TlsFiles& files) {
  ERR_clear_error();
  SSL_CTX* const made = SSL_CTX_new(TLS_client_method());
  if (!made) return Error::because("OpenSSL: " + reason_of_openssl());
  std::unique_ptr<const TlsContext> context(new TlsContext(made));
  SSL_CTX_set_verify(made, SSL_VERIFY_PEER, nullptr);
  if (SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION) != 1)
    return Error::because("OpenSSL: " + reason_of_openssl());
  SSL_CTX_set_options(made, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(made, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
  TRY(files.ca.empty() ? trust_the_system(made) : trust(made, files.ca));
  if (!files.cert.empty() || !files.key.empty()) TRY(identify(made, files));
  // Now, while there may be files to open: the time zone, which libc reads before it looks at the
  // validity of a certificate, and whatever OpenSSL takes its first random bytes from.
  ::tzset();
  unsigned char random = 0;
  if (RAND_bytes(&random, 1) != 1) return Error::because("OpenSSL: " + reason_of_openssl());
  return context;
}

Result<std::unique_ptr<TlsSession>> TlsContext::connect(const std::string& host) const {
  ERR_clear_error();
  SSL* const made = SSL_new(context_.get());
  if (!made) return Error::because("OpenSSL: " + reason_of_openssl());
  std::unique_ptr<TlsSession> session(new TlsSession(made, host));
  SSL_set_hostflags(made, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool is_named = SSL_set1_host(made, host.c_str()) == 1 &&
                        (is_address(host) || SSL_set_tlsext_host_name(made, host.c_str()) == 1);
  if (!is_named) return Error::because("OpenSSL: " + reason_of_openssl());
  Memory input(BIO_new(BIO_s_mem())), output(BIO_new(BIO_s_mem()));
  if (!input || !output) return Error::because("OpenSSL: " + reason_of_openssl());
  session->input_ = input.get();
  session->output_ = output.get();
  SSL_set_bio(made, input.release(), output.release());
  SSL_set_connect_state(made);
  TRY(session->shake_hands());
  return session;
}

TlsSession::TlsSession(ssl_st* session, std::string host)
    : session_(session, SSL_free), host_(std::move(host)) {}

TlsSession::~TlsSession() = default;

Error TlsSession::failure() const {
  const long verified = SSL_get_verify_result(session_.get());
  if (verified == X509_V_OK) return Error::because("TLS: " + reason_of_openssl());
  return Error::because(fmt::format("the router's certificate is not accepted for {}: {}", host_,
                                    X509_verify_cert_error_string(verified)));
}

Result<void> TlsSession::shake_hands() {
  ERR_clear_error();
  const int done = SSL_do_handshake(session_.get());
  if (done == 1) {
    ready_ = true;
    write();
    return {};
  }
  const int error = SSL_get_error(session_.get(), done);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return {};
  failed_ = true;
  return failure();
}

Result<void> TlsSession::receive() {
  std::array<char, size_t{16} << 10> bytes;
  for (;;) {
    size_t size = 0;
    ERR_clear_error();
    const int read = SSL_read_ex(session_.get(), bytes.data(), bytes.size(), &size);
    if (read == 1) {
      received_.append(bytes.data(), size);
      continue;
    }
    const int error = SSL_get_error(session_.get(), read);
    if (error == SSL_ERROR_WANT_READ) return {};
    if (error == SSL_ERROR_ZERO_RETURN) {
      ended_ = true;
      return {};
    }
    failed_ = true;
    return failure();
  }
}

Result<void> TlsSession::feed(std::string_view bytes) {
  if (failed_ || ended_) return {};
  size_t written = 0;
  while (!bytes.empty()) {
    VERIFY(BIO_write_ex(input_, bytes.data(), bytes.size(), &written) == 1);  // there is memory
    bytes.remove_prefix(written);
  }
  if (!ready_) TRY(shake_hands());
  if (ready_) TRY(receive());
  return {};
}

std::string TlsSession::take_received() { return std::exchange(received_, {}); }

void TlsSession::send(std::string_view bytes) {
  waiting_ += bytes;
  write();
}

void TlsSession::close() {
  closing_ = true;
  write();
}

// Memory takes everything.
void TlsSession::write() {
  if (!ready_ || failed_) return;
  size_t written = 0;
  ERR_clear_error();
  if (!waiting_.empty() &&
      SSL_write_ex(session_.get(), waiting_.data(), waiting_.size(), &written) != 1)
    return;
  waiting_.clear();
  if (std::exchange(closing_, false)) SSL_shutdown(session_.get());
}

std::string TlsSession::take_output() {
  std::string output(BIO_ctrl_pending(output_), '\0');
  size_t read = 0;
  if (!output.empty()) VERIFY(BIO_read_ex(output_, output.data(), output.size(), &read) == 1);
  output.resize(read);
  return output;
}

}  // namespace cluster
