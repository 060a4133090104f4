#pragma once
// The listening sockets: addresses as they are written on the command line, sockets bound to them,
// and sockets that systemd has bound already. Used at start-up only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace service {

struct ListenAddress {
  std::string host;   // a numeric address; empty: a unix socket
  uint16_t port = 0;  // 0: any that is free
  std::string path;   // of a unix socket
  bool is_unix() const { return host.empty(); }
};

// "127.0.0.1:8000", "[::1]:8000", "localhost:8000", "unix:/run/zygo.sock".
sys::Result<ListenAddress> parse_listen_address(std::string_view text);

// A bound socket that listens; a unix socket's file goes with it.
class Listener {
 public:
  // `mode`: of a unix socket's file. One that nobody listens on any more is replaced.
  static sys::Result<Listener> open(const ListenAddress& address, unsigned mode);
  // The sockets of LISTEN_FDS, if they are meant for this process (sd_listen_fds(3)).
  static sys::Result<std::vector<Listener>> inherited();

  // A socket that listens already, from the process that opened it.
  static sys::Result<Listener> adopt(sys::OwnedFd fd) { return listening(std::move(fd)); }

  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  int fd() const { return fd_.get(); }
  const std::string& name() const { return name_; }  // "http://127.0.0.1:8000", "unix:/run/x.sock"
  bool is_unix() const { return is_unix_; }
  // Reached from this host only. Unix sockets are.
  bool is_local() const { return is_local_; }

 private:
  explicit Listener(sys::OwnedFd fd) : fd_(std::move(fd)) {}
  static sys::Result<Listener> listening(sys::OwnedFd fd);

  sys::OwnedFd fd_;
  std::string name_, path_;  // path_: to be removed
  bool is_unix_ = false, is_local_ = false;
};

}  // namespace service
