#pragma once
// The program's standard output on its way to ours, as it comes: the program gets a pipe, never our
// descriptor, and a thread carries what it writes. A reader of ours that goes ends the pipe, too.

#include <thread>

#include "sandbox/sys/file.h"

namespace cli {

class OutputPump {
 public:
  static sys::Result<OutputPump> to(sys::OwnedFd target);
  OutputPump(OutputPump&&) noexcept = default;
  OutputPump& operator=(OutputPump&&) = delete;
  ~OutputPump() { finish(); }

  int writer() const { return writer_.get(); }  // for the program
  // When nobody else has the writer any more: waits until all is through.
  void finish();

 private:
  OutputPump(sys::OwnedFd writer, std::thread thread)
      : writer_(std::move(writer)), thread_(std::move(thread)) {}
  sys::OwnedFd writer_;
  std::thread thread_;
};

}  // namespace cli
