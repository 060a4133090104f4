#include "runtime/job/live_io.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "sandbox/sys/file.h"

namespace runtime {

sys::Result<std::shared_ptr<LiveIo>> LiveIo::create(std::function<void()> woken) {
  auto live = std::make_shared<LiveIo>();
  sys::Pipe pipe = TRY(sys::make_pipe_for_program(sys::PipeFor::kReading));
  if (::fcntl(pipe.writer.get(), F_SETFL, O_NONBLOCK) < 0)
    return sys::Error::from_errno("stdin of a live job");
  live->reader_ = std::move(pipe.reader);
  live->writer_ = std::move(pipe.writer);
  live->woken_ = std::move(woken);
  return live;
}

std::shared_ptr<LiveIo> LiveIo::adopt(sys::OwnedFd reader) {
  auto live = std::make_shared<LiveIo>();
  live->reader_ = std::move(reader);
  return live;
}

LiveIo::News LiveIo::take() {
  std::lock_guard lock(mutex_);
  told_ = false;
  News taken = std::exchange(news_, {});
  news_.stage = taken.stage;
  return taken;
}

void LiveIo::leave() {
  std::lock_guard lock(mutex_);
  woken_ = nullptr;
  news_ = {};
}

void LiveIo::begin(Stage stage) {
  std::lock_guard lock(mutex_);
  news_.stage = std::max(news_.stage, stage);
  wake();
}

void LiveIo::put(Stream stream, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  if (bytes.empty() || !woken_) return;
  (stream == Stream::kStdout ? news_.out : news_.err).append(bytes);
  wake();
}

void LiveIo::wake() {
  if (woken_ && !std::exchange(told_, true)) woken_();
}

}  // namespace runtime
