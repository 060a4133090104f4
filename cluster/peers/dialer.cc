#include "cluster/peers/dialer.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "sandbox/sys/socket.h"

namespace cluster {

using sys::Error;
using sys::Result;

Dialer::Dialer(runtime::Loop& loop, House house, sys::Milliseconds known)
    : loop_(loop),
      house_(std::move(house)),
      known_(known),
      again_(loop, [this] { begin_start(); }) {
  begin_start();
}

sys::Milliseconds Dialer::pause_after(unsigned silent) {
  constexpr unsigned kDoublings = 10;  // more than lead to the longest
  return std::min(kFirstPause * (1 << std::min(silent, kDoublings)), kLongestPause);
}

void Dialer::begin_start() {
  state_ = State::kStarting;
  house_.start([this](Result<DialerProcesses::Started> process) { started(std::move(process)); });
}

void Dialer::started(Result<DialerProcesses::Started> process) {
  if (!process) return lose(process.error());
  readable_.reset();
  process_ = std::move(process->channel);
  pid_ = process->pid;
  state_ = State::kThere;
  trouble_.reset();
  readable_.emplace(loop_, process_.get(), [this] { answered(); });
  readable_->start();
  ask();
}

bool Dialer::is_away() const {
  return state_ == State::kGone ||
         (trouble_.has_value() && sys::monotonic_now() < trouble_at_ + known_);
}

void Dialer::dial(std::function<bool()> wanted, Then then) {
  if (is_away()) return then(*trouble_);
  if (waiting_.size() >= kMostWaiting)
    return then(Error::because("too many requests wait for a connection"));
  waiting_.push_back({std::move(wanted), std::move(then)});
  if (waiting_.size() == 1 && state_ == State::kThere) ask();
}

void Dialer::ask() {
  while (!waiting_.empty() && !waiting_.front().wanted()) waiting_.pop_front();
  if (waiting_.empty()) return;
  const std::byte please{1};
  if (auto sent = sys::send_message(process_.get(), {&please, 1}); !sent) fail(sent.error());
}

void Dialer::answered() {
  HandedOver answer;
  auto received =
      sys::receive_message(process_.get(), sys::writable_bytes_of(answer), MSG_DONTWAIT);
  if (!received && received.error().code() == EAGAIN) return;
  if (received && received->size == 0) {
    readable_->stop();
    return lose(Error::because(
        fmt::format("process {}, which connects, has ended; another one is started", pid_)));
  }
  silent_ = 0;
  if (!received) return fail(received.error());  // of this socket: there may be no room for it
  if (received->fds.empty())
    return fail(Error::because(std::string(answer.why, ::strnlen(answer.why, sizeof answer.why))));
  trouble_.reset();
  if (waiting_.empty()) return;
  const Then then = std::move(waiting_.front().then);
  waiting_.pop_front();
  ask();
  then(std::move(received->fds.front()));
}

// Whoever waits hears of it at once, and may have somewhere else to go.
void Dialer::lose(const Error& why) {
  state_ = State::kGone;
  again_.start(pause_after(silent_++));
  house_.lost(why);
  fail(why);
}

void Dialer::fail(const Error& why) {
  trouble_ = why;
  trouble_at_ = sys::monotonic_now();
  for (const Waiting& each : std::exchange(waiting_, {})) each.then(why);
}

}  // namespace cluster
