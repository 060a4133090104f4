#pragma once
// StopSignals: turns SIGINT, SIGTERM and SIGHUP into bytes on a pipe, for a poll loop. The first
// asks for a clean end; the second ends the process at once with 130. SIGPIPE becomes EPIPE.
// Handlers rather than a blocked mask or SIG_IGN, because those two would be inherited by every
// program zygo starts. One at a time in a process: signals belong to the process.

#include "sandbox/sys/file.h"

namespace cli {

class StopSignals {
 public:
  static sys::Result<StopSignals> install();
  // Readable as soon as a signal came; never read, so that it stays so.
  int fd() const { return pipe_.reader.get(); }
  bool came() const;
  void wait() const;

 private:
  explicit StopSignals(sys::Pipe pipe) : pipe_(std::move(pipe)) {}
  sys::Pipe pipe_;
};

}  // namespace cli
