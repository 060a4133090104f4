#include "service/http/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>

namespace service {

using sys::Nanoseconds;

namespace {

constexpr size_t kReadAtOnce = size_t{64} << 10;
constexpr sys::Milliseconds kLinger{2000};
constexpr Nanoseconds kNever = Nanoseconds::max();

}  // namespace

Connection::Connection(runtime::Loop& loop, sys::OwnedFd socket, Peer peer,
                       const ConnectionLimits& limits, ConnectionHost& host)
    : host_(host),
      limits_(limits),
      peer_(std::move(peer)),
      socket_(std::move(socket)),
      watch_(loop, socket_.get(), [this](runtime::SocketWatch::Ready ready) { on_ready(ready); }),
      timer_(loop, [this] { on_timer(); }),
      parser_(limits.parser),
      client_(peer_.name),
      since_(sys::monotonic_now()) {
  update();
}

Connection::~Connection() {
  if (exchange_) exchange_->lose();
}

void Connection::on_ready(runtime::SocketWatch::Ready ready) {
  if (state_ == State::kOver) return;
  if (unsent_ > 0) {
    flush();
    if (unsent_ == 0) drained();
  }
  if (state_ == State::kOver) return;
  if (exchange_ && exchange_->listens()) {
    if (ready.readable || ready.gone) read_some();
  } else if (exchange_ && exchange_->arrived_) {
    if (ready.gone) return give_up();
  } else if (exchange_) {
    if (ready.readable || ready.gone) reads_ahead_ = false;
    if (ready.gone) {
      hang_up_seen_ = true;
      if (client_is_gone()) return give_up();
    }
  } else if (ready.readable || ready.gone) {
    read_some();
  }
  if (state_ != State::kOver) update();
}

// There may be requests that it sent before it went; then the answer will find out.
bool Connection::client_is_gone() {
  if (broken_) return true;
  char byte = 0;
  const ssize_t n = ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

void Connection::read_some() {
  std::array<char, kReadAtOnce> bytes;
  const ssize_t n = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n < 0) return give_up();
  if (n == 0) {
    no_more_ = true;
    if (exchange_) return give_up();  // upgraded: nobody is left to talk to
    return end_if_done();
  }
  if (state_ == State::kLingering || closing_) return;  // thrown away
  if (exchange_) return hand_over({bytes.data(), static_cast<size_t>(n)});
  if (parser_.untouched() && in_.empty()) since_ = sys::monotonic_now();
  in_.append(bytes.data(), static_cast<size_t>(n));
  process();
}

void Connection::hand_over(std::string_view bytes) {
  if (bytes.empty() || !exchange_) return;
  const auto arrived = exchange_->arrived_;  // it may be the end of the exchange
  arrived(bytes);
}

// The bytes that came behind the request are the first of the other protocol.
void Connection::upgraded() {
  const std::string rest = in_.substr(in_at_);
  in_.clear();
  in_at_ = 0;
  hand_over(rest);
  if (state_ != State::kOver) update();
}

void Connection::resumed() {
  if (state_ != State::kOver) update();
}

// Until there is nothing more to parse, or something that must be answered first.
void Connection::process() {
  if (std::exchange(processing_, true)) return;
  while (state_ == State::kOpen && !closing_ && !exchange_ && in_at_ < in_.size() && has_room())
    feed();
  processing_ = false;
  if (in_at_ == in_.size()) {
    in_.clear();
    in_at_ = 0;
  }
}

void Connection::feed() {
  if (parser_.untouched()) {
    in_body_ = false;
    body_seen_ = 0;
  }
  const size_t taken = parser_.feed(std::string_view(in_).substr(in_at_));
  in_at_ += taken;
  switch (parser_.state()) {
    case RequestParser::State::kHead:
      return;
    case RequestParser::State::kBroken:
      return reject(parser_.refusal());
    case RequestParser::State::kBody:
    case RequestParser::State::kComplete:
      break;
  }
  if (!in_body_ && !begin_body()) return;
  body_seen_ += taken;
  if (!share_.resize(parser_.held_bytes())) {
    Response busy = busy_response(503, "memory", "too many bytes of requests are held already", 1);
    return reject(std::move(busy));
  }
  if (parser_.state() == RequestParser::State::kComplete) return dispatch();
  if (parser_.take_expectation()) send("HTTP/1.1 100 Continue\r\n\r\n");
}

// The head says who it is: from here on what comes is held for that client. False: refused.
bool Connection::begin_body() {
  client_ = host_.client_of(parser_.request(), peer_);
  share_ = Allowance::Share(host_.bodies(), client_);
  if (auto refusal = host_.place_for(*this, parser_.request(), place_)) {
    reject(*std::move(refusal));
    return false;
  }
  in_body_ = true;
  since_ = sys::monotonic_now();
  return true;
}

void Connection::dispatch() {
  exchange_ = std::make_shared<Exchange>(*this, parser_.take(), peer_, std::move(share_));
  in_body_ = hang_up_seen_ = false;
  reads_ahead_ = served_ = true;
  host_.handle(exchange_);
}

// The bytes were no request that could be handled; those that follow cannot be told apart from it.
void Connection::reject(Response response) {
  host_.refused(peer_, response.status);
  std::string text = "HTTP/1.1 " + std::to_string(response.status) + " " +
                     std::string(reason_of(response.status)) +
                     "\r\nContent-Type: application/json\r\nContent-Length: " +
                     std::to_string(response.body.size()) + "\r\nConnection: close\r\n";
  for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
  closing_ = true;
  send(text + "\r\n" + response.body);
}

void Connection::send(std::string bytes, std::shared_ptr<void> held) {
  if (state_ != State::kOpen || bytes.empty()) return;
  if (unsent_ == 0) moved_ = sys::monotonic_now();
  unsent_ += bytes.size();
  out_.push_back({std::move(bytes), std::move(held)});
  // More may follow at once; what is left goes when the socket says so.
  if (out_.size() == 1) flush();
  if (unsent_ == 0 && closing_ && !exchange_) linger();
  if (state_ != State::kOver) update();
}

void Connection::flush() {
  while (!out_.empty()) {
    const std::string_view left = std::string_view(out_.front().bytes).substr(out_at_);
    const ssize_t n = ::send(socket_.get(), left.data(), left.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) {
      // The exchange may be in the middle of speaking: the rest on a later turn.
      out_.clear();
      out_at_ = unsent_ = 0;
      closing_ = broken_ = true;
      hang_up_seen_ = false;
      ::shutdown(socket_.get(), SHUT_RDWR);
      return;
    }
    moved_ = sys::monotonic_now();
    unsent_ -= static_cast<size_t>(n);
    out_at_ += static_cast<size_t>(n);
    if (out_at_ == out_.front().bytes.size()) {
      out_.pop_front();
      out_at_ = 0;
    }
  }
}

// The client has taken all that it had not taken at first.
void Connection::drained() {
  if (closing_ && !exchange_) return linger();
  if (exchange_ && exchange_->room_) {
    const std::function<void()> room = exchange_->room_;  // it may be the end of the exchange
    room();
  }
  if (!exchange_ && in_at_ < in_.size()) process();
  end_if_done();
}

// A client that has closed its side may still be reading.
void Connection::end_if_done() {
  if (no_more_ && !exchange_ && unsent_ == 0) give_up();
}

// A client that is still sending must be able to read the answer: closing at once would reset it.
void Connection::linger() {
  if (state_ != State::kOpen) return;
  state_ = State::kLingering;
  since_ = sys::monotonic_now();
  ::shutdown(socket_.get(), SHUT_WR);
}

void Connection::completed(bool close) {
  ExchangePtr ended = std::move(exchange_);
  host_.finished(*ended);
  since_ = sys::monotonic_now();
  if (close) closing_ = true;
  if (closing_ && unsent_ == 0) linger();
  process();
  end_if_done();
  if (state_ != State::kOver) update();
}

void Connection::drain() {
  on_ready({.readable = true});  // a request may have come that the loop has not come to
  if (!exchange_ && unsent_ == 0 && parser_.untouched() && in_at_ == in_.size()) give_up();
}

void Connection::reset() {
  const struct linger at_once { .l_onoff = 1, .l_linger = 0 };
  (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  give_up();
}

void Connection::give_up() {
  if (state_ == State::kOver) return;
  state_ = State::kOver;
  watch_.want({});
  timer_.stop();
  out_.clear();
  out_at_ = unsent_ = 0;
  share_ = {};
  place_ = {};
  if (ExchangePtr lost = std::move(exchange_)) {
    lost->lose();
    host_.finished(*lost);
  }
  host_.over(*this);
}

Nanoseconds Connection::deadline() const {
  if (state_ == State::kLingering) return since_ + kLinger;
  Nanoseconds first = unsent_ > 0 ? moved_ + limits_.write : kNever;
  if (exchange_ || closing_) return first;
  if (in_body_) {
    const sys::Milliseconds earned(body_seen_);  // a byte a millisecond
    return std::min(first, since_ + limits_.body + earned);
  }
  const bool idle = served_ && parser_.untouched();
  return std::min(first, since_ + (idle ? limits_.idle : limits_.head));
}

// While a request is answered nothing is read, but reading is what is watched for until there is
// something: a client that waits for its answer costs no change of the watch.
void Connection::update() {
  if (idle()) place_ = {};
  const bool listens =
      exchange_ == nullptr || exchange_->listens() || (reads_ahead_ && !exchange_->arrived_);
  const bool reads = !no_more_ && (state_ == State::kLingering || (listens && has_room()));
  watch_.want({.read = reads,
               .write = unsent_ > 0,
               .hang_up = exchange_ != nullptr && !hang_up_seen_ && !reads});
  const Nanoseconds next = deadline();
  if (next == kNever || (armed_ != Nanoseconds(0) && armed_ <= next)) return;
  armed_ = next;
  timer_.start(next - sys::monotonic_now());
}

void Connection::on_timer() {
  armed_ = Nanoseconds(0);
  if (state_ == State::kOver) return;
  if (sys::monotonic_now() < deadline()) return update();
  const bool stalled = unsent_ > 0 && sys::monotonic_now() >= moved_ + limits_.write;
  if (stalled || state_ == State::kLingering || closing_ || parser_.untouched()) return give_up();
  Response late = error_response(
      408, "too_slow", in_body_ ? "the body came too slowly" : "the head came too slowly");
  reject(std::move(late));
  if (state_ != State::kOver) update();
}

}  // namespace service
