#include "tools/cli/kernel/cell_run.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <mutex>

namespace cli {

// Left by threads of the engine, which may outlive our interest.
struct CellRun::Ended {
  const sys::OwnedFd events{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::optional<runtime::JobResult> result;

  void tell() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(events.get(), &one, sizeof one);
  }
};

sys::Result<std::unique_ptr<CellRun>> CellRun::start(runtime::Engine& engine, runtime::Job job) {
  std::unique_ptr<CellRun> made(new CellRun(engine));
  const auto ended = std::make_shared<Ended>();
  made->ended_ = ended;
  made->live_ = TRY(runtime::LiveIo::create([ended] { ended->tell(); }));
  made->input_ = made->live_->take_writer();
  made->watch_ = std::make_shared<runtime::JobWatch>();
  job.live = made->live_;
  job.watch = made->watch_;
  engine.submit(std::move(job), [ended](runtime::JobResult result) {
    std::lock_guard lock(ended->mutex);
    ended->result = std::move(result);
    ended->tell();
  });
  return made;
}

CellRun::~CellRun() { live_->leave(); }

int CellRun::fd() const { return ended_->events.get(); }

void CellRun::heed() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = ::read(fd(), &count, sizeof count);
}

runtime::LiveIo::News CellRun::take() { return live_->take(); }

std::optional<runtime::JobResult> CellRun::result() {
  std::lock_guard lock(ended_->mutex);
  return std::exchange(ended_->result, std::nullopt);
}

void CellRun::give(std::string_view input) {
  unwritten_ += input;
  write_on();
}

void CellRun::write_on() {
  while (!unwritten_.empty()) {
    const ssize_t n = ::write(input_.get(), unwritten_.data(), unwritten_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) return unwritten_.clear();  // nobody reads it any more
    unwritten_.erase(0, static_cast<size_t>(n));
  }
}

void CellRun::interrupt() {
  live_->signal(SIGINT);
  engine_.pass_signals();
}

void CellRun::withdraw() {
  watch_->withdrawn = true;
  engine_.cancel_withdrawn();
}

}  // namespace cli
