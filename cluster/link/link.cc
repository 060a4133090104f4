#include "cluster/link/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cluster/link/channel.h"
#include "cluster/link/tls.h"
#include "cluster/link/upgrade.h"

namespace cluster {

using sys::Error;
using sys::Nanoseconds;
using sys::Result;

namespace {

// Of answers to pings, that the router does not take.
constexpr size_t kMostAnswers = size_t{1} << 20;

}  // namespace

class Link::Connection : private ChannelHost {
 public:
  Connection(runtime::Loop& loop, sys::OwnedFd socket, std::unique_ptr<TlsSession> tls,
             std::string key, std::string request, LinkListener& listener, const Options& options);

  bool is_open() const { return state_ == State::kOpen; }
  size_t unsent() const { return channel_.unsent() + early_; }
  void send(std::string_view bytes);
  void close(uint16_t code, std::string_view reason);

 private:
  // Until the upgrade; while messages come and go; from a close until the other side hangs up.
  enum class State : uint8_t { kAsking, kOpen, kClosing, kOver };

  void on_bytes(std::string_view bytes) override;
  void on_sent(bool all) override;
  void on_hung_up() override;
  void on_broken(const Error& why) override;
  bool asks_too_much();
  void take_answer(bool is_all);
  void take_messages();
  void pull();
  void say_goodbye(std::string why);
  void watch();
  void check();
  void finish(std::string why);

  const std::string key_;
  const Options options_;
  LinkListener& listener_;
  service::Frames frames_;
  size_t early_ = 0;    // bytes of messages that wait for the upgrade
  size_t answers_ = 0;  // what pings have added since the socket took everything
  std::string answer_, why_;
  State state_ = State::kAsking;
  Nanoseconds heard_ = sys::monotonic_now();
  bool pinged_ = false;
  runtime::Afterwards over_;
  runtime::LateTimer due_;
  Channel channel_;
};

Link::Connection::Connection(runtime::Loop& loop, sys::OwnedFd socket,
                             std::unique_ptr<TlsSession> tls, std::string key, std::string request,
                             LinkListener& listener, const Options& options)
    : key_(std::move(key)),
      options_(options),
      listener_(listener),
      frames_(options.message, service::Frames::Side::kClient),
      over_(loop,
            [this] {
              const std::string why = std::move(why_);
              listener_.on_over(why);  // may destroy this
            }),
      due_(loop, [this] { check(); }),
      channel_(loop, std::move(socket), std::move(tls), *this) {
  channel_.send(std::move(request));
  due_.start(options_.upgrade);
}

void Link::Connection::on_broken(const Error& why) {
  finish(state_ == State::kClosing ? why_ : why.text());
}

// The router takes what it is sent: it lives, and may be too busy to say so.
void Link::Connection::on_sent(bool all) {
  heard_ = sys::monotonic_now();
  if (!all) return;
  answers_ = 0;
  if (state_ == State::kOpen) listener_.on_room();
}

bool Link::Connection::asks_too_much() {
  if (answers_ + channel_.said_by_tls() <= kMostAnswers) return false;
  finish("the router sends pings and takes no answer");
  return true;
}

void Link::Connection::on_bytes(std::string_view bytes) {
  heard_ = sys::monotonic_now();
  pinged_ = false;
  if (asks_too_much()) return;
  if (state_ == State::kClosing) return;  // nothing is expected any more but the end
  if (state_ == State::kAsking) {
    answer_ += bytes;
    return take_answer(false);
  }
  const size_t before = channel_.unsent();
  frames_.feed(bytes);
  pull();
  answers_ += channel_.unsent() - before;
  if (!asks_too_much()) take_messages();
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
  if (!frames.empty()) on_bytes(frames);
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

void Link::Connection::on_hung_up() {
  if (state_ == State::kAsking) take_answer(true);
  if (state_ == State::kClosing) return finish(why_);
  finish("the router has closed the connection without a word");
}

// What the frames have to say goes to the socket, in the loop's next turn together with what else
// comes until then.
void Link::Connection::pull() {
  if (std::string said = frames_.take_output(); !said.empty()) channel_.send(std::move(said));
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
  channel_.finish();
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
  channel_.stop();
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
