#pragma once
// LiveIo: the stdin and the output of one job while it runs, for a caller who takes part in it. The
// caller keeps the writing end of the program's stdin, and is woken when there is something to
// take; the engine puts the output here as it reads it. What waits here is never more than what the
// job's result will hold, so the job's own output limits bound it, and a caller that takes nothing
// does not slow the program down. The caller's thread and a shard's; the job is run once.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/job/outcome.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace runtime {

class LiveIo {
 public:
  enum class Stage : uint8_t { kWaiting, kBuilding, kRunning };  // in this order
  struct News {
    Stage stage = Stage::kWaiting;
    std::string out, err;  // since the last look
  };

  // `woken` is called on any thread, must not block, and must not call back. An error: there are no
  // descriptors left.
  static sys::Result<std::shared_ptr<LiveIo>> create(std::function<void()> woken);

  // The engine's side of one whose caller is in another process: the program's stdin came from
  // there, and what the job writes is taken here to be sent there.
  static std::shared_ptr<LiveIo> adopt(sys::OwnedFd reader);
  void wake_with(std::function<void()> woken) { woken_ = std::move(woken); }  // before it is shared

  // The caller's side.
  sys::OwnedFd take_writer() { return std::move(writer_); }  // once; writes to it do not block
  News take();
  // For the first process of the job; Engine::pass_signals() has it sent.
  void signal(int number) { signal_ = number; }
  void leave();  // nobody is woken any more

  // The engine's side.
  int reader() const { return reader_.get(); }  // the job's stdin, until reader_sent()
  void reader_sent() { reader_.reset(); }       // from here on only the job has it
  void begin(Stage stage);
  void put(Stream stream, std::string_view bytes);
  int take_signal() { return signal_.exchange(0); }  // 0: none

 private:
  void wake();  // with the mutex held

  sys::OwnedFd reader_, writer_;
  std::atomic<int> signal_{0};
  std::mutex mutex_;
  std::function<void()> woken_;
  bool told_ = false;  // and not yet taken
  News news_;
};

}  // namespace runtime
