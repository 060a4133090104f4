#include "cluster/router/pilot_session.h"

#include <fmt/format.h>

#include <utility>

#include "runtime/remote/job_wire.h"

namespace cluster {

using runtime::WireReader;
using runtime::WireWriter;

namespace {

// A silent pilot is noticed late by a part of the lease; it hears from us several times in one.
constexpr int kBeatsInLease = 4;

}  // namespace

PilotSession::PilotSession(std::shared_ptr<service::WebSocket> socket, std::string address,
                           House house)
    : socket_(std::move(socket)),
      address_(std::move(address)),
      house_(std::move(house)),
      soon_(house_.loop, [this] { flush(); }) {}

void PilotSession::open(const service::Headers& headers) {
  heard_ = sys::monotonic_now();
  beat_ = house_.deadlines.at(heard_ + house_.hello, [this] {
    beat_ = 0;
    refuse("it has not said hello in time");
  });
  socket_->open(headers, shared_from_this());
}

std::string PilotSession::named() const {
  return name_.empty() ? fmt::format("a pilot at {}", address_)
                       : fmt::format("pilot {} at {}", name_, address_);
}

void PilotSession::send(std::string_view message) {
  waiting_.add(message);
  soon_.start();
}

// Nothing waits for room: the fleet gives a pilot no more than it can run soon.
void PilotSession::flush() {
  if (over_ || waiting_.empty()) return;
  socket_->send_bytes(waiting_.take());
}

void PilotSession::refuse(const std::string& why) {
  house_.trouble(fmt::format("{} is sent away: {}", named(), why));
  sent_away_ = why;
  socket_->close(service::kClosePolicy, why);
}

void PilotSession::end() { socket_->close(service::kCloseGoingAway, "the router ends"); }

void PilotSession::on_message(service::Frames::Message message) {
  heard_ = sys::monotonic_now();
  if (message.is_text) return refuse("it sends text");
  if (std::exchange(lapsed_, false)) {
    house_.log(fmt::format("{} speaks again", named()));
    house_.fleet.set_lapsed(pilot_, false);
  }
  FrameReader frames(message.bytes);
  while (const auto frame = frames.next()) {
    if (socket_->is_over()) return;
    handle(*frame);
  }
  if (!frames.ok()) refuse("it sends what is no message of a pilot");
}

void PilotSession::handle(std::string_view frame) {
  WireReader in(frame);
  Kind kind{};
  uint64_t number = 0;
  in(kind, number);
  const bool first = !is_member();
  if (in.ok() && first && kind == Kind::kHello) return greet(in);
  if (!in.ok() || first || !read(kind, number, in) || !in.ok())
    refuse(fmt::format("its message \"{}\" is none of a pilot", name_of(kind)));
}

void PilotSession::greet(WireReader& in) {
  Hello hello;
  in(hello);
  // An older or newer one may say more behind what all versions say.
  if (!in.ok()) return refuse("its hello cannot be read");
  std::string why = objection_to(hello);
  const uint16_t version = common_version(hello.oldest, hello.newest);
  if (why.empty() && version == 0) {
    why = fmt::format("it speaks versions {} to {} of our protocol, and this router {} to {}",
                      hello.oldest, hello.newest, kOldestVersion, kNewestVersion);
  }
  if (why.empty()) why = house_.objection(hello);
  if (!why.empty()) return refuse(why);
  name_ = hello.name;
  WireWriter out = message(Kind::kWelcome);
  out(Welcome{.version = version,
              .router = house_.router,
              .lease_ms = static_cast<uint32_t>(house_.lease.count())});
  send(out.bytes());
  house_.log(fmt::format("{} has joined: {} workers, level {}", named(), hello.workers,
                         sandbox::name_of(static_cast<sandbox::Level>(hello.level))));
  pilot_ = house_.fleet.enter(std::move(hello), address_, *this);
  house_.deadlines.forget(beat_);
  beat_at_ = sys::monotonic_now();
  beat();
}

bool PilotSession::read(Kind kind, uint64_t number, WireReader& in) {
  Fleet& fleet = house_.fleet;
  switch (kind) {
    case Kind::kAlive:
      return in.at_end();
    case Kind::kStatus: {
      Status status;
      in(status);
      if (in.at_end()) fleet.set_status(pilot_, status);
      return in.at_end();
    }
    case Kind::kRuntimes: {
      std::string told;
      in(told);
      return in.at_end() && house_.runtimes.add(pilot_, told);
    }
    case Kind::kBegan: {
      std::vector<uint64_t> numbers;
      in(numbers);
      if (!in.at_end()) return false;
      for (const uint64_t each : numbers) fleet.began(pilot_, each);
      return true;
    }
    case Kind::kNews:
      take_news(number, in);
      return in.at_end();
    case Kind::kTaken: {
      uint64_t bytes = 0;
      in(bytes);
      if (in.at_end()) fleet.taken(pilot_, number, bytes);
      return in.at_end();
    }
    case Kind::kResult:
      take_result(number, in);
      return in.at_end();
    case Kind::kReturned:
      if (in.at_end()) fleet.returned(pilot_, number);
      return in.at_end();
    case Kind::kDraining:
      if (in.at_end()) {
        house_.log(fmt::format("{} drains", named()));
        fleet.set_draining(pilot_);
      }
      return in.at_end();
    default:
      return false;
  }
}

void PilotSession::take_news(uint64_t number, WireReader& in) {
  auto stage = runtime::LiveIo::Stage::kWaiting;
  std::string out, err;
  in(stage, out, err);
  if (in.at_end()) house_.fleet.news(pilot_, number, stage, out, err);
}

void PilotSession::take_result(uint64_t number, WireReader& in) {
  bool started = false;
  runtime::JobResult result;
  in(started);
  if (!runtime::read_result(in, result) || !in.at_end()) return in.fail();
  house_.fleet.result(pilot_, number, started, std::move(result));
}

// Says that we are there, and looks whether it is.
void PilotSession::beat() {
  beat_ = 0;
  if (over_) return;
  send(message(Kind::kAlive).bytes());
  const sys::Nanoseconds now = sys::monotonic_now();
  // We were held up ourselves: what it has said meanwhile is not read yet.
  if (now > beat_at_ + house_.lease / 2) heard_ = now;
  house_.fleet.forget_withdrawn(now - house_.lease);
  if (now - heard_ > house_.lease && !std::exchange(lapsed_, true)) {
    house_.trouble(fmt::format("{} is silent: its jobs are started elsewhere", named()));
    house_.lost(pilot_, LostPilots::Reason::kSilent,
                fmt::format("it has said nothing for {} ms", house_.lease.count()));
    house_.fleet.set_lapsed(pilot_, true);
  }
  beat_at_ = now + house_.lease / kBeatsInLease;
  beat_ = house_.deadlines.at(beat_at_, [this] { beat(); });
}

// A silent one was told already.
void PilotSession::tell_loss() const {
  if (lapsed_) return;
  if (sent_away_.empty())
    return house_.lost(pilot_, LostPilots::Reason::kDisconnected, "its connection has ended");
  house_.lost(pilot_, LostPilots::Reason::kSentAway, sent_away_);
}

void PilotSession::on_over() {
  over_ = true;
  soon_.stop();
  house_.deadlines.forget(beat_);
  if (is_member()) {
    house_.log(fmt::format("{} has left", named()));
    tell_loss();
    house_.runtimes.remove(pilot_);
    house_.fleet.leave(std::exchange(pilot_, 0));
  }
  house_.over(shared_from_this());
}

}  // namespace cluster
