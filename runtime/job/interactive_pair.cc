#include "runtime/job/interactive_pair.h"

#include <fcntl.h>

#include <string>
#include <utility>

#include "sandbox/sys/file.h"

namespace runtime {

sys::Result<std::shared_ptr<InteractivePair>> InteractivePair::create() {
  auto pairing = std::make_shared<InteractivePair>();
  auto& [program, interactor] = pairing->ends_;
  sys::Pipe asked = TRY(sys::make_pipe_for_program(sys::PipeFor::kBoth));
  sys::Pipe answered = TRY(sys::make_pipe_for_program(sys::PipeFor::kBoth));
  program = {std::move(asked.reader), std::move(answered.writer)};
  interactor = {std::move(answered.reader), std::move(asked.writer)};
  pairing->exit_order_.emplace(program.stdin_fd.get(), interactor.stdin_fd.get());
  return pairing;
}

sys::Result<std::shared_ptr<InteractivePair>> InteractivePair::one_way() {
  auto pairing = std::make_shared<InteractivePair>();
  sys::Pipe said = TRY(sys::make_pipe_for_program(sys::PipeFor::kBoth));
  pairing->ends_[index(Side::kProgram)].stdout_fd = std::move(said.writer);
  pairing->ends_[index(Side::kInteractor)].stdin_fd = std::move(said.reader);
  return pairing;
}

InteractivePair::Fate InteractivePair::arrive(Side side, std::function<void()> wake) {
  std::function<void()> other;
  {
    std::lock_guard lock(mutex_);
    here_[index(side)] = true;
    if (left_) return Fate::kAlone;
    if (!here_[0] || !here_[1]) {
      wake_ = std::move(wake);
      return Fate::kWaiting;
    }
    other = std::exchange(wake_, nullptr);
  }
  if (other) other();
  return Fate::kTogether;
}

void InteractivePair::leave() {
  std::function<void()> other;
  {
    std::lock_guard lock(mutex_);
    if (here_[0] && here_[1]) return;
    left_ = true;
    other = std::exchange(wake_, nullptr);
  }
  if (other) other();
}

bool InteractivePair::retreat(Side side) {
  std::lock_guard lock(mutex_);
  if (here_[0] && here_[1]) return false;
  if (std::exchange(here_[index(side)], false)) wake_ = nullptr;
  return true;
}

void InteractivePair::begin(Side side, std::function<Waiting()> waiting) {
  std::lock_guard lock(mutex_);
  waiting_[index(side)] = std::move(waiting);
}

Waiting InteractivePair::waiting_of_other(Side side) const {
  std::lock_guard lock(mutex_);
  const auto& waiting = waiting_[1 - index(side)];
  return waiting ? waiting() : Waiting();
}

sys::OwnedFd InteractivePair::stderr_of(Side side, int reader) {
  if (!exit_order_) return {};
  auto own = sys::open("/proc/self/fd/" + std::to_string(reader), O_WRONLY);
  if (!own) return {};
  exit_order_->watch_errors(
      side == Side::kProgram ? ExitOrder::Side::kOne : ExitOrder::Side::kOther, reader);
  return std::move(own).value();
}

std::optional<InteractivePair::Side> InteractivePair::first_to_leave() const {
  const auto first = exit_order_ ? exit_order_->first() : std::nullopt;
  if (!first) return std::nullopt;
  return *first == ExitOrder::Side::kOne ? Side::kProgram : Side::kInteractor;
}

InteractivePair::Fate InteractivePair::fate() const {
  std::lock_guard lock(mutex_);
  if (left_) return Fate::kAlone;
  return here_[0] && here_[1] ? Fate::kTogether : Fate::kWaiting;
}

}  // namespace runtime
