#include "tools/cli/mcp/input_thread.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace cli {

namespace {
constexpr size_t kChunk = size_t{64} << 10;
}

InputThread::InputThread(runtime::Loop& loop, int fd, std::function<void(std::string_view)> arrived,
                         std::function<void()> ended)
    : fd_(fd),
      arrived_(std::move(arrived)),
      ended_(std::move(ended)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      wakeup_(loop, [this] { hand_over(); }),
      thread_([this] { read_all(); }) {}

InputThread::~InputThread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  taken_.notify_all();
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void InputThread::read_all() {
  std::array<char, kChunk> chunk{};
  for (;;) {
    std::array<pollfd, 2> ready{{{fd_, POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;  // EINTR
    if (ready[1].revents != 0) return;
    const ssize_t n = ::read(fd_, chunk.data(), chunk.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    std::unique_lock lock(mutex_);
    if (n > 0) bytes_.assign(chunk.data(), static_cast<size_t>(n));
    at_end_ = n <= 0;
    wakeup_.wake();
    if (at_end_) return;
    taken_.wait(lock, [this] { return stopping_ || bytes_.empty(); });
    if (stopping_) return;
  }
}

void InputThread::hand_over() {
  std::string bytes;
  bool at_end = false;
  {
    std::lock_guard lock(mutex_);
    bytes = std::exchange(bytes_, {});
    at_end = at_end_;
  }
  taken_.notify_all();
  if (!bytes.empty()) arrived_(bytes);
  if (at_end && !std::exchange(has_told_, true)) ended_();
}

}  // namespace cli
