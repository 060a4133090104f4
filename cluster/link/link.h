#pragma once
// Link: one outgoing WebSocket, from a pilot to a router, on a socket that is connected already.
// Asks for the upgrade, and then carries binary messages in both directions. Pings a router that is
// silent, and gives up on one that does not answer. What the router sends is untrusted. Loop thread
// only.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cluster/link/join_url.h"
#include "runtime/loop/loop.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"
#include "service/http/frames.h"

namespace cluster {

class TlsContext;

// Called from the loop, never from inside a call of the link's. The link may be destroyed inside
// on_over(), and inside no other.
class LinkListener {
 public:
  virtual ~LinkListener() = default;
  virtual void on_open() = 0;  // the router has upgraded the connection
  virtual void on_message(std::string bytes) = 0;
  virtual void on_room() = 0;  // the socket has taken all that had to wait for it
  // The last call, once: refused, closed by either side, or lost. `why` is for people.
  virtual void on_over(const std::string& why) = 0;
};

class Link {
 public:
  struct Options {
    size_t message = size_t{64} << 20;  // bytes of one that comes; a longer one ends the link
    sys::Milliseconds upgrade{10'000};  // until the router has answered
    sys::Milliseconds ping{20'000};     // of silence; and then as long for an answer
    sys::Milliseconds goodbye{2'000};   // from a close until the router has hung up
    const TlsContext* tls = nullptr;    // for https; start() alone needs it
  };
  // `token` is sent as it is, and so may hold no bytes that a header may not. The listener outlives
  // the link. Nothing is called before the loop's next turn.
  static sys::Result<std::unique_ptr<Link>> start(runtime::Loop& loop, sys::OwnedFd connected,
                                                  const JoinUrl& to, std::string_view token,
                                                  LinkListener& listener, const Options& options);
  ~Link();  // without a word to the router
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  bool is_open() const;
  // Never blocks, and never fails: what cannot be sent ends the link. Before on_open() it waits.
  void send(std::string_view bytes);
  size_t unsent() const;  // bytes that the socket has not taken, with what frames add
  // Says so to the router, behind all that was sent, and ends.
  void close(uint16_t code, std::string_view reason);

 private:
  class Connection;
  explicit Link(std::unique_ptr<Connection> connection);
  const std::unique_ptr<Connection> connection_;
};

}  // namespace cluster
