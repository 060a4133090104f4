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

// From here on each SIGHUP is a byte to read, in the place of a reason to end: for a service, whose
// configuration is to be read again. One that somebody started at a terminal ends with that, as
// every program does: then, and where SIGHUP is ignored, there is no descriptor.
sys::Result<sys::OwnedFd> install_reload_signal();

}  // namespace cli
