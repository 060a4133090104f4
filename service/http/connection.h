#pragma once
// Connection: one client's socket. Reads requests one after another, hands each to the host, and
// reads on when it is answered, so answers keep the order of requests. Ends by itself when a client
// is too slow or speaks something else. Owned by the server; loop thread only.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/loop/loop.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/units.h"
#include "service/http/exchange.h"
#include "service/http/request_parser.h"

namespace service {

struct ConnectionLimits {
  ParserLimits parser;
  sys::Milliseconds idle{75'000};   // between requests
  sys::Milliseconds head{10'000};   // from the first byte of a request to the end of its head
  sys::Milliseconds body{30'000};   // and one second more for each KiB that has come
  sys::Milliseconds write{30'000};  // without the client taking a byte
  size_t unsent = size_t{1} << 20;  // above this much, answers in pieces pause
};

// The server as a connection sees it.
class ConnectionHost {
 public:
  virtual ~ConnectionHost() = default;
  virtual void handle(ExchangePtr exchange) = 0;
  virtual void finished(const Exchange& exchange) = 0;     // answered or lost
  virtual void refused(const Peer& peer, int status) = 0;  // was no request at all
  virtual void over(Connection& connection) = 0;           // to be destroyed, on a later turn
  virtual bool draining() const = 0;
  virtual Allowance& bodies() = 0;
  // `work` on another thread, in turns with those of other clients, then `then` here.
  virtual void aside(const std::string& client, std::function<void()> work,
                     std::function<void()> then) = 0;
  // A request's head has come: whom it is counted for, and whether there is a place for it. A
  // refusal is its answer.
  virtual std::string client_of(const Request& request, const Peer& peer) = 0;
  virtual std::optional<Response> place_for(Connection& connection, const Request& request,
                                            Allowance::Share& place) = 0;
};

class Connection {
 public:
  Connection(runtime::Loop& loop, sys::OwnedFd socket, Peer peer, const ConnectionLimits& limits,
             ConnectionHost& host);
  ~Connection();
  Connection(const Connection&) = delete;

  bool busy() const { return exchange_ != nullptr || unsent_ > 0; }
  // The service is ending: goes at once unless there is something to answer.
  void drain();
  bool draining() const { return host_.draining(); }
  bool has_room() const { return unsent_ <= limits_.unsent; }
  ConnectionHost& host() { return host_; }
  // Between requests, or before the head of one is complete; since when; and who was last heard.
  bool idle() const { return !exchange_ && unsent_ == 0 && !in_body_; }
  sys::Nanoseconds idle_since() const { return since_; }
  const std::string& client() const { return client_; }
  void drop() { give_up(); }  // to make room for another, or because an answer breaks off
  void reset();               // the same, where a usual end would make it look whole

  // For its exchange.
  void send(std::string bytes, std::shared_ptr<void> held = nullptr);
  void completed(bool close);
  void upgraded();
  void resumed();

 private:
  enum class State : uint8_t { kOpen, kLingering, kOver };

  void on_ready(runtime::SocketWatch::Ready ready);
  void read_some();
  void process();
  void feed();
  bool begin_body();
  void dispatch();
  void reject(Response response);
  bool client_is_gone();
  void hand_over(std::string_view bytes);
  void flush();
  void drained();
  void linger();
  void give_up();
  void end_if_done();
  void update();
  void on_timer();
  sys::Nanoseconds deadline() const;

  ConnectionHost& host_;
  const ConnectionLimits& limits_;
  const Peer peer_;
  sys::OwnedFd socket_;
  runtime::SocketWatch watch_;
  runtime::LateTimer timer_;
  State state_ = State::kOpen;
  RequestParser parser_;
  std::string client_;
  Allowance::Share share_, place_;  // for a body; among all requests under way
  ExchangePtr exchange_;
  std::string in_;  // read, not yet parsed
  size_t in_at_ = 0;
  struct Piece {
    std::string bytes;
    std::shared_ptr<void> held;  // counts them
  };
  std::deque<Piece> out_;
  size_t out_at_ = 0, unsent_ = 0;  // out_at_: within the first piece
  bool closing_ = false;            // when all is sent
  bool processing_ = false, hang_up_seen_ = false;
  bool reads_ahead_ = false;  // nothing has come behind the request that is being answered
  bool broken_ = false;       // cannot be written to
  bool no_more_ = false;      // the client has closed its side
  // When the current state began, and when the client last took something.
  sys::Nanoseconds since_{}, moved_{};
  sys::Nanoseconds armed_{};  // zero: the timer is not
  size_t body_seen_ = 0;
  bool in_body_ = false, served_ = false;
};

}  // namespace service
