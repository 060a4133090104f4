#include "tools/cli/batch/result_writer.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "sandbox/sys/thread.h"

namespace cli {
namespace {

constexpr size_t kShort = size_t{64} << 10;  // of lines that leave together

bool is_regular(int fd) {
  struct stat about {};
  return ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

bool is_socket(int fd) {
  struct stat about {};
  return ::fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode);
}

}  // namespace

sys::Result<std::unique_ptr<ResultWriter>> ResultWriter::start(int out, Settled settled) {
  sys::OwnedFd stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop) return sys::Error::from_errno("eventfd");
  std::unique_ptr<ResultWriter> writer(new ResultWriter(out, std::move(settled), std::move(stop)));
  writer->thread_ =
      TRY(sys::start_thread([self = writer.get()] { self->work(); }, sys::kStartPatience));
  return writer;
}

ResultWriter::ResultWriter(int out, Settled settled, sys::OwnedFd stop)
    : out_(out),
      may_block_(!is_regular(out)),
      is_socket_(is_socket(out)),
      settled_(std::move(settled)),
      stop_(std::move(stop)) {}

ResultWriter::~ResultWriter() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  uint64_t one = 1;
  [[maybe_unused]] ssize_t n = ::write(stop_.get(), &one, sizeof one);
  if (thread_.joinable()) thread_.join();
}

void ResultWriter::push(std::string line) {
  {
    std::lock_guard lock(mutex_);
    pending_.push_back(std::move(line));
  }
  changed_.notify_all();
}

sys::Error ResultWriter::error() const {
  std::lock_guard lock(mutex_);
  return sys::Error::from_errno("write", code_);
}

bool ResultWriter::drain(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  auto settled = [this] { return pending_.empty() && !busy_; };
  return changed_.wait_for(lock, patience, settled) && state() == State::kOpen;
}

void ResultWriter::work() {
  for (;;) {
    std::vector<std::string> lines;
    {
      std::unique_lock lock(mutex_);
      busy_ = false;
      changed_.notify_all();
      changed_.wait(lock, [this] { return stopping_ || !pending_.empty(); });
      if (stopping_) return;
      std::swap(lines, pending_);
      busy_ = true;
    }
    write_all(std::move(lines));
  }
}

// Short lines go many in one write. What has left is told as it leaves, so that the next jobs are
// read while a long line is being written.
void ResultWriter::write_all(std::vector<std::string> lines) {
  for (auto line = lines.begin(); line != lines.end();) {
    std::string bytes = std::move(*line++);
    size_t count = 1;
    for (; line != lines.end() && bytes.size() + line->size() <= kShort; ++line, ++count)
      bytes += *line;
    write_bytes(bytes);
    settled_(count, bytes.size());
  }
}

void ResultWriter::write_bytes(std::string_view bytes) {
  while (!bytes.empty() && state() == State::kOpen) {
    ssize_t n = write_some(bytes);
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
      continue;
    }
    if (errno == EINTR || errno == EAGAIN) continue;
    if (errno == ECANCELED) return;
    std::lock_guard lock(mutex_);
    code_ = errno;
    state_ = errno == EPIPE || errno == ECONNRESET ? State::kReaderGone : State::kFailed;
  }
}

// A pipe that poll(2) calls writable takes PIPE_BUF bytes without blocking, so the thread can
// always be stopped. O_NONBLOCK would do the same, but to everybody who shares the open file;
// RWF_NOWAIT (of pipes since Linux 6.4) does it for one call, which then writes what there is room
// for.
ssize_t ResultWriter::write_some(std::string_view bytes) {
  if (!may_block_) return ::write(out_, bytes.data(), bytes.size());
  pollfd entries[2] = {{out_, POLLOUT, 0}, {stop_.get(), POLLIN, 0}};
  if (::poll(entries, 2, -1) < 0) return -1;
  if (entries[1].revents != 0) {
    errno = ECANCELED;
    return -1;
  }
  if (is_socket_) return ::send(out_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (can_refuse_ && bytes.size() > PIPE_BUF) {
    const iovec all{const_cast<char*>(bytes.data()), bytes.size()};
    const ssize_t n = ::pwritev2(out_, &all, 1, -1, RWF_NOWAIT);
    if (n >= 0 || (errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS)) return n;
    can_refuse_ = false;
  }
  return ::write(out_, bytes.data(), std::min(bytes.size(), size_t{PIPE_BUF}));
}

}  // namespace cli
