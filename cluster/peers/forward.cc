#include "cluster/peers/forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cluster/peers/forwarded.h"

namespace cluster {

using service::ResponseReader;

namespace {

constexpr size_t kPiece = size_t{256} << 10;  // of a body that is sent
constexpr unsigned kComeBack = 1;             // seconds

}  // namespace

Forward::Forward(service::ExchangePtr exchange, House house)
    : exchange_(std::move(exchange)),
      house_(std::move(house)),
      late_(house_.loop, [this] { is_late(); }),
      over_(house_.loop, [this] { house_.over(shared_from_this()); }) {}

void Forward::start() {
  exchange_->when_gone([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->finish();
  });
  late_.start(house_.patience_to_connect);
  house_.dialer.dial(
      [weak = weak_from_this()] {
        const auto self = weak.lock();
        return self && !self->over_said_;
      },
      [weak = weak_from_this()](sys::Result<sys::OwnedFd> socket) {
        if (const auto self = weak.lock()) self->connected(std::move(socket));
      });
}

void Forward::connected(sys::Result<sys::OwnedFd> socket) {
  if (over_said_) return;  // its client has left
  if (socket) {
    if (auto begun = begin(std::move(socket).value()); begun)
      return;
    else
      socket = begun.error();
  }
  give_up(socket.error());
}

// It may be too late when the connection comes: then nobody wants it any more.
void Forward::is_late() {
  if (channel_) return fail("no answer in time");
  give_up(sys::Error::because("no connection in time"));
}

void Forward::give_up(const sys::Error& why) {
  finish();
  house_.unreachable(why);
}

sys::Result<void> Forward::begin(sys::OwnedFd socket) {
  std::unique_ptr<TlsSession> tls;
  if (house_.peer.url.tls) tls = TRY(house_.tls->connect(house_.peer.url.host));
  channel_ = std::make_unique<Channel>(house_.loop, std::move(socket), std::move(tls), *this);
  late_.start(house_.patience);
  exchange_->when_room([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->read_on();
  });
  channel_->send(forwarded_head(exchange_->request, house_.peer.url, house_.from));
  send_more();
  return {};
}

void Forward::send_more() {
  const std::string& body = exchange_->request.body;
  while (channel_->unsent() == 0 && body_sent_ < body.size()) {
    const std::string_view next = std::string_view(body).substr(body_sent_, kPiece);
    body_sent_ += next.size();
    channel_->send(std::string(next));
  }
}

// Its client takes what has come, so more may come.
void Forward::read_on() {
  if (over_said_) return;
  channel_->read(true);
  late_.start(house_.patience);
}

void Forward::on_sent(bool all) {
  late_.start(house_.patience);
  if (all) send_more();
}

void Forward::on_bytes(std::string_view bytes) {
  reader_.feed(bytes);
  pass_on();
}

void Forward::on_hung_up() {
  reader_.end();
  pass_on();
}

// What is there whole is one answer; what comes bit by bit goes on bit by bit.
void Forward::pass_on() {
  if (over_said_ || reader_.state() == ResponseReader::State::kHead) return;
  if (reader_.state() == ResponseReader::State::kBroken) return fail("its answer breaks off");
  late_.start(house_.patience);
  const bool complete = reader_.state() == ResponseReader::State::kComplete;
  std::string piece = reader_.take_body();
  if (begun_) {
    exchange_->write(std::move(piece));
  } else {
    begun_ = true;
    service::Response answer{.status = reader_.status(), .body = std::move(piece)};
    answer.headers = passed_on(reader_.headers());
    for (const auto& [name, value] : reader_.headers())
      if (name == "content-type") answer.type = value;
    std::erase_if(exchange_->headers, [](const auto& each) { return each.first == kAnsweredBy; });
    if (complete) {
      exchange_->answer(std::move(answer));
      return finish();
    }
    exchange_->begin(std::move(answer));
  }
  if (complete) {
    exchange_->end();
    return finish();
  }
  if (exchange_->has_room()) return;
  channel_->read(false);
  late_.stop();
}

void Forward::fail(const std::string& why) {
  if (over_said_) return;
  house_.trouble(why);
  if (begun_) {
    exchange_->abort();
  } else {
    begun_ = true;
    exchange_->answer(service::busy_response(
        502, "router_lost", fmt::format("router {}: {}", house_.peer.name, why), kComeBack));
  }
  finish();
}

void Forward::finish() {
  if (std::exchange(over_said_, true)) return;
  late_.stop();
  if (channel_) channel_->stop();
  over_.start();
}

}  // namespace cluster
