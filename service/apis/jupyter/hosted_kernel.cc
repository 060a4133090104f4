#include "service/apis/jupyter/hosted_kernel.h"

#include <algorithm>
#include <utility>

#include "sandbox/sys/utc.h"

namespace service::jupyter {

HostedKernel::HostedKernel(Parts parts)
    : parts_(std::move(parts)), missed_(Allowance::Share(parts_.held, parts_.client)) {
  touch();
}

HostedKernel::~HostedKernel() { tell_started("the kernel was ended"); }

void HostedKernel::touch() {
  used_ = sys::monotonic_now();
  used_since_1970_ = sys::time_since_1970();
}

void HostedKernel::perform(std::function<void()> what) {
  const auto self = shared_from_this();
  if (is_over_) return;
  to_do_.push_back(std::move(what));
  if (std::exchange(is_working_, true)) return;
  while (!to_do_.empty() && !is_over_) {
    const std::function<void()> next = std::move(to_do_.front());
    to_do_.pop_front();
    next();
    settle();
  }
  to_do_.clear();
  is_working_ = false;
}

// Looks at the kernel after each thing that it was told: it may have ended, begun, or come to rest.
void HostedKernel::settle() {
  if (is_over_) return;
  if (kernel_->is_ending() && kernel_->is_restart()) {
    to_do_.emplace_front([this] { begin_anew(); });
  } else if (kernel_->is_ending()) {
    tell_started(kernel_->broken().empty() ? "the kernel was ended" : kernel_->broken());
    parts_.over(parts_.id);
  } else if (!kernel_->is_starting()) {
    tell_started("");
  }
  const bool has_room_now = has_room();
  const auto sockets = sockets_;
  for (const auto& socket : sockets) socket->set_listening(has_room_now);
  const bool is_busy_now = is_busy();
  const bool has_rested = std::exchange(was_busy_, is_busy_now) && !is_busy_now;
  if (!has_rested) return;
  touch();
  parts_.rested();
}

void HostedKernel::start(Then then) {
  starting_.push_back(std::move(then));
  perform([this] { begin_anew(); });
}

// The new kernel is in place before the old one goes: clients that are answered when the old step
// is withdrawn may ask for it at once.
void HostedKernel::begin_anew() {
  auto cells = std::make_unique<SessionCells>(parts_.cells);
  auto kernel = std::make_unique<Kernel>(Kernel::Parts{*cells, *this, parts_.version});
  kernel_.swap(kernel);
  cells_.swap(cells);
  kernel.reset();  // its step is withdrawn, and then its session ends
  cells.reset();
  kernel_->begin();
}

void HostedKernel::tell_started(const std::string& why_not) {
  for (const Then& then : std::exchange(starting_, {})) then(why_not);
}

bool HostedKernel::attach(const std::shared_ptr<KernelSocket>& socket) {
  touch();
  const auto sockets = sockets_;
  for (const auto& each : sockets) {
    if (each->id() == socket->id()) each->close(kCloseNormal, "the session has another socket");
  }
  std::erase_if(sockets_, [&socket](const auto& each) { return each->id() == socket->id(); });
  if (sockets_.size() >= kMostSockets) return false;
  sockets_.push_back(socket);
  return true;
}

void HostedKernel::detach(const KernelSocket* socket) {
  touch();
  const bool has_left =
      std::erase_if(sockets_, [socket](const auto& each) { return each.get() == socket; }) > 0;
  if (has_left && socket->may_return()) missed_.begin(socket->id());
  look();  // it may have been the one who did not listen
}

void HostedKernel::hear(const KernelSocket& socket, ChannelMessage said) {
  touch();
  said.message.identities = {socket.id()};
  perform([this, said = std::move(said)] { kernel_->receive(said.channel, said.message); });
}

void HostedKernel::look() {
  perform([this] { kernel_->look(); });
}

void HostedKernel::interrupt() {
  perform([this] { kernel_->interrupt(); });
}

void HostedKernel::end(uint16_t code, std::string_view reason) {
  const auto self = shared_from_this();
  is_over_ = true;
  const auto sockets = sockets_;  // one that is over takes itself out
  for (const auto& socket : sockets) socket->close(code, reason);
}

KernelModel HostedKernel::model() const {
  KernelModel model{parts_.id, parts_.name, "idle", used_since_1970_, sockets_.size()};
  if (!starting_.empty() || kernel_->is_starting())
    model.state = "starting";
  else if (kernel_->is_busy())
    model.state = "busy";
  return model;
}

// The slowest client decides: output waits for it.
bool HostedKernel::has_room() const {
  return std::ranges::all_of(sockets_, [](const auto& each) { return each->has_room(); });
}

void HostedKernel::send(Channel channel, const Message& message) {
  const bool is_for_all = channel == Channel::kIopub;
  const auto sockets = sockets_;
  for (const auto& socket : sockets) {
    if (is_for_all || message.identities.front() == socket->id()) socket->send(channel, message);
  }
  missed_.add(channel, message);
}

}  // namespace service::jupyter
