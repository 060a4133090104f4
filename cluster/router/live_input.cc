#include "cluster/router/live_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace cluster {

namespace {

constexpr size_t kPiece = size_t{64} << 10;

}  // namespace

LiveInput::LiveInput(runtime::Loop& loop, std::shared_ptr<runtime::LiveIo> io, Send send)
    : io_(std::move(io)),
      send_(std::move(send)),
      readable_(loop, io_->reader(), [this] { pump(); }) {
  ::fcntl(io_->reader(), F_SETFL, O_RDONLY | O_NONBLOCK);
  readable_.start();
}

void LiveInput::pump() {
  const uint64_t room = kAhead - std::min(kAhead, sent_ - taken_);
  if (room == 0) return readable_.stop();
  std::array<char, kPiece> piece{};
  const ssize_t read = ::read(io_->reader(), piece.data(), std::min<uint64_t>(piece.size(), room));
  if (read < 0 && (errno == EAGAIN || errno == EINTR)) return;
  ended_ = read <= 0;
  if (ended_) readable_.stop();
  const size_t bytes = ended_ ? 0 : static_cast<size_t>(read);
  sent_ += bytes;
  send_(std::string_view(piece.data(), bytes), ended_);
}

void LiveInput::taken(uint64_t bytes) {
  taken_ = std::min(sent_, taken_ + bytes);
  if (!ended_ && !readable_.active()) readable_.start();
}

}  // namespace cluster
