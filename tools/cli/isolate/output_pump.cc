#include "tools/cli/isolate/output_pump.h"

#include <unistd.h>

#include <cerrno>

namespace cli {
namespace {

void carry(sys::OwnedFd from, sys::OwnedFd to) {
  char chunk[65536];
  for (;;) {
    const ssize_t n = ::read(from.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || !sys::write_all(to.get(), {chunk, static_cast<size_t>(n)}).ok()) return;
  }
}

}  // namespace

sys::Result<OutputPump> OutputPump::to(sys::OwnedFd target) {
  sys::Pipe pipe = TRY(sys::make_pipe_for_program(sys::PipeFor::kWriting));
  std::thread thread(carry, std::move(pipe.reader), std::move(target));
  return OutputPump(std::move(pipe.writer), std::move(thread));
}

void OutputPump::finish() {
  writer_.reset();
  if (thread_.joinable()) thread_.join();
}

}  // namespace cli
