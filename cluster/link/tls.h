#pragma once
// TLS of a link, the client's side: bytes of a socket as what was meant, and the other way round.
// It has no socket and no clock but the system's, for the validity of certificates. Only tls.cc
// knows OpenSSL. All files are read when a context is made: a process that is confined then needs
// none.

#include <memory>
#include <string>
#include <string_view>

#include "sandbox/sys/result.h"

struct ssl_ctx_st;
struct ssl_st;
struct bio_st;

namespace cluster {

struct TlsFiles {
  std::string ca = {};    // PEM: who may vouch for a router; empty: whom this system trusts
  std::string cert = {};  // PEM: the pilot's own certificate, and those between it and its CA
  std::string key = {};   // PEM, not encrypted
};

class TlsSession {
 public:
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // Takes all that the socket has brought. An error ends the session: the router is not the one
  // that it should be, or speaks no TLS. What is to be sent then says so.
  sys::Result<void> feed(std::string_view bytes);
  std::string take_received();
  bool is_ended() const { return ended_; }  // the other side has said that nothing more comes

  // Waits until the router has shown who it is.
  void send(std::string_view bytes);
  void close();  // behind what was sent
  std::string take_output();

 private:
  friend class TlsContext;
  TlsSession(ssl_st* session, std::string host);
  sys::Result<void> shake_hands();
  sys::Result<void> receive();
  void write();
  sys::Error failure() const;

  const std::unique_ptr<ssl_st, void (*)(ssl_st*)> session_;
  const std::string host_;
  bio_st *input_ = nullptr, *output_ = nullptr;  // the session's
  std::string waiting_, received_;
  bool ready_ = false, ended_ = false, closing_ = false, failed_ = false;
};

class TlsContext {
 public:
  // TLS 1.2 or newer. An error names the file that is wrong.
  static sys::Result<std::unique_ptr<const TlsContext>> open(const TlsFiles& files);
  // With a router that has a certificate for `host`, a name or a numeric address.
  sys::Result<std::unique_ptr<TlsSession>> connect(const std::string& host) const;

 private:
  explicit TlsContext(ssl_ctx_st* context);
  const std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)> context_;
};

}  // namespace cluster
