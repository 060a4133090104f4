#pragma once
// Daemons: an engine in a process of its own, which may be killed at any time: another one then
// takes its place. Jobs that it had end as SandboxError, as those do of whoever loses the
// connection to a service; a retry is safe, and theirs to make. Jobs are submitted from any thread;
// results come on a thread of this class.
//
// Each daemon is forked by a nursery, a process that was forked when this one had a single thread
// and that never has another: a fork of a process with threads may find their locks taken.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "runtime/engine/engine.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace cli {

class Daemons : public runtime::Engine {
 public:
  using Start = std::function<sys::Result<std::unique_ptr<runtime::Engine>>()>;

  // While this process has one thread. `start` is called in each daemon. An error is the first
  // daemon's.
  static sys::Result<std::unique_ptr<Daemons>> open(const Start& start);
  // Waits until the daemon has given back what it had.
  ~Daemons() override;

  void submit(runtime::Job job, std::function<void(runtime::JobResult)> done) override;
  unsigned workers() const override { return workers_; }
  void cancel_all() override;
  void cancel_withdrawn() override {}
  Standing standing() const override { return standing_; }

  // Any thread.
  pid_t pid();  // of the one that lives; 0: there is none
  bool kill();

 private:
  struct Waiting {
    std::string id, tag;
    std::function<void(runtime::JobResult)> done;
  };
  using Jobs = std::unordered_map<uint64_t, Waiting>;

  Daemons() = default;
  sys::Result<void> start_one();
  void work();
  void read_results();
  void take(std::string_view frame);
  void send(std::string_view frame);
  static void fail(Jobs lost, const char* why);

  sys::OwnedFd nursery_;
  pid_t nursery_pid_ = 0;
  unsigned workers_ = 0;
  Standing standing_;
  std::mutex mutex_;  // of the rest
  sys::OwnedFd socket_, handle_;
  pid_t pid_ = 0;
  Jobs jobs_;
  uint64_t last_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace cli
