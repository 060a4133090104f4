#include "runtime/cell/stdin_feed.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <thread>

#include "sandbox/sys/file.h"
#include "sandbox/sys/thread.h"

namespace runtime {

using sys::Result;

Result<std::unique_ptr<StdinFeed>> StdinFeed::from_bytes(Loop& loop, const std::string& bytes) {
  auto feed = std::make_unique<StdinFeed>();
  sys::Pipe pipe = TRY(sys::make_pipe_for_program(sys::PipeFor::kReading));
  feed->reader_ = std::move(pipe.reader);
  feed->writer_ = std::move(pipe.writer);
  feed->bytes_ = &bytes;
  StdinFeed* self = feed.get();
  ::fcntl(self->writer_.get(), F_SETFL, O_NONBLOCK);
  self->write_some();
  if (self->writer_) {
    self->ready_ =
        std::make_unique<Writable>(loop, self->writer_.get(), [self] { self->write_some(); });
    self->ready_->start();
  }
  return feed;
}

void StdinFeed::write_some() {
  while (written_ < bytes_->size()) {
    ssize_t n = ::write(writer_.get(), bytes_->data() + written_, bytes_->size() - written_);
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) break;  // the program closed its stdin
    written_ += static_cast<size_t>(n);
  }
  ready_.reset();
  writer_.reset();
}

namespace {
// Ends with the input, or with the first write that the program no longer wants.
void copy_all(sys::OwnedFd from, sys::OwnedFd to) {
  char chunk[65536];
  for (ssize_t n; (n = ::read(from.get(), chunk, sizeof chunk)) > 0;) {
    if (!sys::write_all(to.get(), {chunk, static_cast<size_t>(n)}).ok()) return;
  }
}
}  // namespace

Result<std::unique_ptr<StdinFeed>> StdinFeed::from_descriptor(int fd) {
  auto feed = std::make_unique<StdinFeed>();
  sys::Pipe pipe = TRY(sys::make_pipe_for_program(sys::PipeFor::kReading));
  sys::OwnedFd from = TRY(sys::duplicate(fd));
  feed->reader_ = std::move(pipe.reader);
  // Detached: it may sit in a read of a terminal for ever, and holds nothing but two descriptors.
  auto ends = std::make_shared<std::pair<sys::OwnedFd, sys::OwnedFd>>(std::move(from),
                                                                      std::move(pipe.writer));
  TRY(sys::start_thread([ends] {
    copy_all(std::move(ends->first), std::move(ends->second));
  })).detach();
  return feed;
}

StdinFeed::~StdinFeed() = default;

}  // namespace runtime
