#pragma once
// Exchange: one request and the way back to its sender. The connection makes it, a handler keeps
// it as long as it likes (shared), and answers once: whole, or as a stream of pieces. When the
// client is gone, or the answer is complete, nothing it is told has an effect any more. Loop
// thread only.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/units.h"
#include "service/http/allowance.h"
#include "service/http/request.h"
#include "service/observe/trace_context.h"

namespace service {

// The other side of a connection.
struct Peer {
  std::string name;  // its address without the port, or "uid:1000" on a unix socket
  bool is_unix = false;
  bool is_this_host = false;  // it came over a loopback address
};

class Connection;

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(Connection& connection, Request given, Peer from, Allowance::Share held);

  Request request;
  const Peer peer;
  std::string client;             // whom the queue takes it for: a token's name, or the peer's
  Allowance::Share share;         // for the body
  std::vector<std::string> jobs;  // ids, for the log
  size_t job_count = 0;
  Headers headers;                    // of the answer, whichever it is going to be
  std::optional<TraceContext> trace;  // that the request belongs to

  // Gzip, if the client takes it and it is worth it; what is long is deflated on another thread,
  // and sent when that is done.
  void answer(Response response);
  // An answer in pieces; `head.body` is the first of them.
  void begin(Response head);
  void write(std::string piece, std::shared_ptr<void> held = nullptr);  // held until it is sent
  void end();
  void abort();  // an answer in pieces that cannot go on: the client sees that it breaks off
  // 101: from here on the connection carries bytes of another protocol. write() sends them as they
  // are, end() closes, and `arrived` gets what the client sends, perhaps before this returns.
  void upgrade(const Headers& headers, std::function<void(std::string_view)> arrived);
  // For an upgraded one: nothing is read until resume(); a client that leaves is noticed.
  void pause();
  void resume();

  bool open() const { return connection_ != nullptr; }
  // Has the client taken what was written so far, but for a bounded rest?
  bool has_room() const;
  // Called at most once, when the client is gone before the answer is complete.
  void when_gone(std::function<void()> gone) { gone_ = std::move(gone); }
  // Called whenever there is room again.
  void when_room(std::function<void()> room) { room_ = std::move(room); }

  // For the log.
  int status() const { return lost_ ? 0 : status_; }  // 0: the client left before the end
  size_t sent() const { return sent_; }
  sys::Nanoseconds began() const { return began_; }

 private:
  friend class Connection;
  void lose();
  void complete();
  bool listens() const { return arrived_ && !paused_; }
  std::string head_of(const Response& response, bool streamed) const;
  std::shared_ptr<Allowance::Share> share_for(const Response& response) const;
  void answer_deflated(Response response);
  void send_whole(Response response);

  Connection* connection_;
  std::function<void()> gone_, room_;
  std::function<void(std::string_view)> arrived_;  // none: not upgraded
  sys::Nanoseconds began_;
  int status_ = 0;
  size_t sent_ = 0;
  bool begun_ = false, lost_ = false, chunked_ = false, close_ = false, paused_ = false;
};

using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace service
