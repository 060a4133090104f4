#pragma once
// LocalLive: a live job of a router at its pilot: what its caller writes, on its way to the
// program's stdin, and what the program writes, on its way back. Loop thread only.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/job/live_io.h"
#include "runtime/loop/loop.h"
#include "sandbox/sys/result.h"

namespace cluster {

class LocalLive {
 public:
  struct Listener {
    std::function<void(runtime::LiveIo::News news)> news;
    std::function<void(uint64_t bytes)> taken;  // of its stdin, by the pipe
  };
  static sys::Result<std::unique_ptr<LocalLive>> create(runtime::Loop& loop, Listener listener);
  ~LocalLive();

  const std::shared_ptr<runtime::LiveIo>& io() const { return io_; }
  // False: more than a router may send.
  bool put(std::string_view bytes, bool is_last);
  void signal(int number) { io_->signal(number); }
  void tell_news();  // what there is until now

 private:
  LocalLive(runtime::Loop& loop, Listener listener);
  void write();

  const Listener listener_;
  runtime::Wakeup woken_;
  std::shared_ptr<runtime::LiveIo> io_;
  sys::OwnedFd writer_;  // none: the input has ended
  std::optional<runtime::Writable> writable_;
  std::string waiting_;
  bool ended_ = false;  // nothing comes behind what waits
};

}  // namespace cluster
