#include "cluster/link/link.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cluster/link/tls.h"
#include "cluster/link/upgrade.h"

namespace cluster {

using runtime::SocketWatch;
using sys::Error;
using sys::Nanoseconds;
using sys::Result;

namespace {

constexpr size_t kPiece = size_t{64} << 10;
constexpr int kPiecesAtOnce = 16;  // before the loop has its turn
// Of answers to pings, that the router does not take.
constexpr size_t kMostAnswers = size_t{1} << 20;
constexpr size_t kKeptRoom = size_t{1} << 20;

}  // namespace

// What waits for the socket.
class Outgoing {
 public:
  void add(std::string bytes) {
    if (size() == 0) {
      bytes_ = std::move(bytes);
      sent_ = 0;
      return;
    }
    if (sent_ > kKeptRoom && sent_ > bytes_.size() / 2) {
      bytes_.erase(0, sent_);
      sent_ = 0;
    }
    bytes_ += bytes;
  }
  std::string_view next() const { return std::string_view(bytes_).substr(sent_); }
  size_t size() const { return bytes_.size() - sent_; }
  void took(size_t count) {
    sent_ += count;
    if (size() == 0) bytes_ = std::string(), sent_ = 0;
  }

 private:
  std::string bytes_;
  size_t sent_ = 0;
};

class Link::Connection {
 public:
  Connection(runtime::Loop& loop, sys::OwnedFd socket, std::unique_ptr<TlsSession> tls,
             std::string key, std::string request, LinkListener& listener, const Options& options);

  bool is_open() const { return state_ == State::kOpen; }
  size_t unsent() const { return outgoing_.size() + early_; }
  void send(std::string_view bytes);
  void close(uint16_t code, std::string_view reason);

 private:
  // Until the upgrade; while messages come and go; from a close until the other side hangs up.
  enum class State : uint8_t { kAsking, kOpen, kClosing, kOver };

  void on_ready(SocketWatch::Ready ready);
  void read_some();
  void write_some();
  void arrived(std::string_view bytes);
  void understood(std::string_view bytes);
  bool asks_too_much(size_t before);
  void put(std::string bytes);
  void take_answer(bool is_all);
  void take_messages();
  void hung_up();
  void pull();
  void say_goodbye(std::string why);
  void watch();
  void check();
  void finish(std::string why);
  void want();

  const sys::OwnedFd socket_;
  const std::unique_ptr<TlsSession> tls_;  // none: bytes go as they are
  const std::string key_;
  const Options options_;
  LinkListener& listener_;
  service::Frames frames_;
  Outgoing outgoing_;
  size_t early_ = 0;    // bytes of messages that wait for the upgrade
  size_t answers_ = 0;  // what pings have added since the socket took everything
  std::string answer_, why_;
  State state_ = State::kAsking;
  Nanoseconds heard_ = sys::monotonic_now();
  bool pinged_ = false, said_all_ = false;
  runtime::Afterwards over_;
  runtime::LateTimer due_;
  SocketWatch watch_;
};

Link::Connection::Connection(runtime::Loop& loop, sys::OwnedFd socket,
                             std::unique_ptr<TlsSession> tls, std::string key, std::string request,
                             LinkListener& listener, const Options& options)
    : socket_(std::move(socket)),
      tls_(std::move(tls)),
      key_(std::move(key)),
      options_(options),
      listener_(listener),
      frames_(options.message, service::Frames::Side::kClient),
      over_(loop,
            [this] {
              const std::string why = std::move(why_);
              listener_.on_over(why);  // may destroy this
            }),
      due_(loop, [this] { check(); }),
      watch_(loop, socket_.get(), [this](SocketWatch::Ready ready) { on_ready(ready); }) {
  put(std::move(request));
  due_.start(options_.upgrade);
  want();
}

void Link::Connection::want() {
  if (state_ == State::kOver) return;
  watch_.want({.read = true, .write = outgoing_.size() > 0});
}

void Link::Connection::on_ready(SocketWatch::Ready ready) {
  if (ready.readable || ready.gone) read_some();
  if (ready.writable && state_ != State::kOver) write_some();
  want();
}

void Link::Connection::read_some() {
  std::array<char, kPiece> bytes;
  for (int i = 0; i < kPiecesAtOnce && state_ != State::kOver; ++i) {
    const ssize_t n = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n == 0) return hung_up();
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) {
      const Error lost = Error::from_errno("the connection to the router");
      return finish(state_ == State::kClosing ? why_ : lost.text());
    }
    arrived({bytes.data(), static_cast<size_t>(n)});
  }
}

void Link::Connection::write_some() {
  const size_t before = outgoing_.size();
  while (outgoing_.size() > 0) {
    const std::string_view next = outgoing_.next();
    const ssize_t n = ::send(socket_.get(), next.data(), next.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) {
      const Error lost = Error::from_errno("the connection to the router");
      return finish(state_ == State::kClosing ? why_ : lost.text());
    }
    outgoing_.took(static_cast<size_t>(n));
  }
  // The router takes what it is sent: it lives, and may be too busy to say so.
  if (outgoing_.size() < before) heard_ = sys::monotonic_now();
  if (outgoing_.size() > 0) return;
  answers_ = 0;
  if (state_ == State::kClosing && !std::exchange(said_all_, true))
    ::shutdown(socket_.get(), SHUT_WR);
  if (state_ == State::kOpen && before > 0) listener_.on_room();
}

void Link::Connection::arrived(std::string_view bytes) {
  heard_ = sys::monotonic_now();
  pinged_ = false;
  if (!tls_) return understood(bytes);
  const size_t before = outgoing_.size();
  const Result<void> fed = tls_->feed(bytes);
  put({});  // what the session itself says
  if (!fed) {
    finish(fed.error().text());
    return write_some();  // so that the router knows, too
  }
  if (asks_too_much(before)) return;
  if (const std::string meant = tls_->take_received(); !meant.empty()) understood(meant);
  if (tls_->is_ended()) hung_up();
}

bool Link::Connection::asks_too_much(size_t before) {
  answers_ += outgoing_.size() - before;
  if (answers_ <= kMostAnswers) return false;
  finish("the router sends pings and takes no answer");
  return true;
}

void Link::Connection::understood(std::string_view bytes) {
  if (state_ == State::kClosing) return;  // nothing is expected any more but the end
  if (state_ == State::kAsking) {
    answer_ += bytes;
    return take_answer(false);
  }
  const size_t before = outgoing_.size();
  frames_.feed(bytes);
  pull();
  if (!asks_too_much(before)) take_messages();
}

void Link::Connection::take_answer(bool is_all) {
  const UpgradeAnswer read = read_upgrade_answer(answer_, is_all, key_);
  if (read.state == UpgradeAnswer::State::kUnfinished) return;
  if (read.state == UpgradeAnswer::State::kRefused) return finish(read.why);
  const std::string frames = answer_.substr(read.head);
  answer_.clear();
  state_ = State::kOpen;
  early_ = 0;
  pull();
  watch();
  listener_.on_open();
  if (!frames.empty()) understood(frames);
}

void Link::Connection::take_messages() {
  while (state_ == State::kOpen) {
    std::optional<service::Frames::Message> message = frames_.take();
    if (!message) break;
    if (message->is_text) return close(service::kCloseUnsupported, "messages are binary here");
    listener_.on_message(std::move(message->bytes));
  }
  if (state_ != State::kOpen || !frames_.is_closed()) return;
  constexpr uint16_t kNotSaid = 1006;
  const uint16_t code = frames_.closed_by_peer_with();
  const std::string& reason = frames_.reason_of_peer();
  if (code == kNotSaid) return say_goodbye("the router has sent what it may not");
  say_goodbye(fmt::format("the router has closed the connection: {}{}{}", code,
                          reason.empty() ? "" : ", ", reason));
}

void Link::Connection::hung_up() {
  if (state_ == State::kAsking) take_answer(true);
  if (state_ == State::kClosing) return finish(why_);
  finish("the router has closed the connection without a word");
}

// What the frames have to say goes to the socket, in the loop's next turn together with what else
// comes until then.
void Link::Connection::pull() {
  if (std::string said = frames_.take_output(); !said.empty()) put(std::move(said));
  want();
}

void Link::Connection::put(std::string bytes) {
  if (!tls_) return outgoing_.add(std::move(bytes));
  if (!bytes.empty()) tls_->send(bytes);
  if (std::string said = tls_->take_output(); !said.empty()) outgoing_.add(std::move(said));
}

void Link::Connection::send(std::string_view bytes) {
  if (state_ == State::kAsking) early_ += bytes.size();
  if (state_ == State::kAsking || state_ == State::kOpen) frames_.send_bytes(bytes);
  if (state_ == State::kOpen) pull();
}

void Link::Connection::close(uint16_t code, std::string_view reason) {
  if (state_ == State::kAsking) return finish("closed before the router had answered");
  if (state_ != State::kOpen) return;
  frames_.close(code, reason);
  say_goodbye(fmt::format("closed: {}", reason));
}

void Link::Connection::say_goodbye(std::string why) {
  state_ = State::kClosing;
  why_ = std::move(why);
  pull();
  if (tls_) {
    tls_->close();
    put({});
    want();
  }
  if (outgoing_.size() == 0 && !std::exchange(said_all_, true)) ::shutdown(socket_.get(), SHUT_WR);
  due_.start(options_.goodbye);
}

// The next time at which something may be overdue.
void Link::Connection::watch() {
  const Nanoseconds next = heard_ + options_.ping * (pinged_ ? 2 : 1);
  due_.start(std::max<Nanoseconds>(next - sys::monotonic_now(), sys::Milliseconds(1)));
}

void Link::Connection::check() {
  if (state_ == State::kAsking) return finish("the router has not answered in time");
  if (state_ == State::kClosing) return finish(why_);
  if (state_ != State::kOpen) return;
  const Nanoseconds now = sys::monotonic_now();
  if (pinged_ && now >= heard_ + 2 * options_.ping)
    return finish("the router has not answered a ping");
  if (!pinged_ && now >= heard_ + options_.ping) {
    pinged_ = true;
    frames_.ping();
    pull();
  }
  watch();
}

// The listener hears of it in a turn of the loop where nothing else of this runs.
void Link::Connection::finish(std::string why) {
  if (std::exchange(state_, State::kOver) == State::kOver) return;
  why_ = std::move(why);
  watch_.want({});
  due_.stop();
  over_.start();
}

Result<std::unique_ptr<Link>> Link::start(runtime::Loop& loop, sys::OwnedFd connected,
                                          const JoinUrl& to, std::string_view token,
                                          LinkListener& listener, const Options& options) {
  std::string key = new_upgrade_key();
  std::string request = TRY(upgrade_request(to, token, key));
  std::unique_ptr<TlsSession> tls;
  if (to.tls) {
    if (!options.tls) return Error::because(to.text() + ": there is no context for TLS");
    tls = TRY(options.tls->connect(to.host));
  }
  return std::unique_ptr<Link>(new Link(
      std::make_unique<Connection>(loop, std::move(connected), std::move(tls), std::move(key),
                                   std::move(request), listener, options)));
}

Link::Link(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Link::~Link() = default;

bool Link::is_open() const { return connection_->is_open(); }
void Link::send(std::string_view bytes) { connection_->send(bytes); }
size_t Link::unsent() const { return connection_->unsent(); }
void Link::close(uint16_t code, std::string_view reason) { connection_->close(code, reason); }

}  // namespace cluster
