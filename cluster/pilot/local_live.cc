#include "cluster/pilot/local_live.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "cluster/router/live_input.h"

namespace cluster {

LocalLive::LocalLive(runtime::Loop& loop, Listener listener)
    : listener_(std::move(listener)), woken_(loop, [this] { tell_news(); }) {}

sys::Result<std::unique_ptr<LocalLive>> LocalLive::create(runtime::Loop& loop, Listener listener) {
  std::unique_ptr<LocalLive> live(new LocalLive(loop, std::move(listener)));
  live->io_ = TRY(runtime::LiveIo::create([wakeup = &live->woken_] { wakeup->wake(); }));
  live->writer_ = live->io_->take_writer();
  live->writable_.emplace(loop, live->writer_.get(), [self = live.get()] { self->write(); });
  return live;
}

LocalLive::~LocalLive() {
  if (io_) io_->leave();
}

bool LocalLive::put(std::string_view bytes, bool is_last) {
  if (ended_ || waiting_.size() + bytes.size() > LiveInput::kAhead) return false;
  waiting_ += bytes;
  ended_ = is_last;
  write();
  return true;
}

// The program may have closed its stdin: what it does not want counts as taken.
void LocalLive::write() {
  if (writer_.get() < 0) {
    if (!waiting_.empty()) listener_.taken(std::exchange(waiting_, {}).size());
    return;
  }
  uint64_t taken = 0;
  while (!waiting_.empty()) {
    const ssize_t written = ::write(writer_.get(), waiting_.data(), waiting_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) break;
    const size_t bytes = written < 0 ? waiting_.size() : static_cast<size_t>(written);
    waiting_.erase(0, bytes);
    taken += bytes;
  }
  if (!waiting_.empty()) {
    writable_->start();
  } else {
    writable_->stop();
    if (ended_) {
      writable_.reset();
      writer_.reset();
    }
  }
  if (taken > 0) listener_.taken(taken);
}

void LocalLive::tell_news() { listener_.news(io_->take()); }

}  // namespace cluster
