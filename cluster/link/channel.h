#pragma once
// Channel: bytes over one connected socket, as they are or by TLS. Knows nothing of what they mean.
// Never blocks. Loop thread only.

#include <memory>
#include <string>
#include <string_view>

#include "cluster/link/tls.h"
#include "runtime/loop/loop.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace cluster {

// Called from the loop. The channel must not be destroyed inside; stop() may be called.
class ChannelHost {
 public:
  virtual ~ChannelHost() = default;
  virtual void on_bytes(std::string_view bytes) = 0;  // none: TLS has spoken
  virtual void on_sent(bool all) = 0;  // the socket has taken some or all of what waited
  virtual void on_hung_up() = 0;       // the other side sends no more
  virtual void on_broken(const sys::Error& why) = 0;
};

class Channel {
 public:
  // `tls`: null for bytes as they are.
  Channel(runtime::Loop& loop, sys::OwnedFd connected, std::unique_ptr<TlsSession> tls,
          ChannelHost& host);

  void send(std::string bytes);  // before TLS has shown who the other side is, it waits
  size_t unsent() const { return outgoing_.size(); }  // bytes that the socket has not taken
  // Of those that were added since the socket had taken all: what TLS itself had to say.
  size_t said_by_tls() const { return said_by_tls_; }
  void finish();           // says, behind what was sent, that no more is sent
  void read(bool wanted);  // it is, until told otherwise
  void stop();             // nothing is called any more

 private:
  // What waits for the socket.
  class Outgoing {
   public:
    void add(std::string bytes);
    std::string_view next() const { return std::string_view(bytes_).substr(sent_); }
    size_t size() const { return bytes_.size() - sent_; }
    void took(size_t count);

   private:
    std::string bytes_;
    size_t sent_ = 0;
  };

  void on_ready(runtime::SocketWatch::Ready ready);
  void read_some();
  void take(std::string_view bytes);
  sys::Result<void> write_some();
  void tell_sent(size_t before);
  void collect();
  void want();

  const sys::OwnedFd socket_;
  const std::unique_ptr<TlsSession> tls_;
  ChannelHost& host_;
  Outgoing outgoing_;
  size_t said_by_tls_ = 0;
  bool reads_ = true, stopped_ = false, finishing_ = false, shut_ = false;
  runtime::SocketWatch watch_;
};

}  // namespace cluster
