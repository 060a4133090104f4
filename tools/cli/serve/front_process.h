#pragma once
// FrontProcess: the process of `zygo serve` that answers requests, as its parent sees it. It is
// started, served the engine, told to read its configuration again and to end, and started again
// when it dies. Belongs to the thread of its loop.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/loop/loop.h"
#include "runtime/remote/engine_host.h"
#include "sandbox/sys/spawn.h"

namespace cli {

class FrontProcess {
 public:
  struct Options {
    std::vector<std::string> arguments;  // of its command line
    std::vector<int> listeners;          // borrowed; what they become is front.h's
    runtime::EngineHost::Options host;   // without `over`
    std::function<void(const std::string&)> log;
    std::function<void(int code)> ended;  // for good
  };
  FrontProcess(runtime::Engine& engine, runtime::Loop& loop, Options options);

  sys::Result<void> start();
  void reload();
  void stop();  // `ended` follows

 private:
  void on_exit();
  void start_again(int code);
  runtime::EngineHost::Options host_options();

  runtime::Engine& engine_;
  runtime::Loop& loop_;
  const Options options_;
  sys::Child child_;
  std::unique_ptr<runtime::Readable> exit_;
  std::unique_ptr<runtime::EngineHost> host_;
  runtime::Timer again_, too_late_;
  sys::Milliseconds pause_{0};
  bool was_ready_ = false, stopping_ = false;
};

}  // namespace cli
