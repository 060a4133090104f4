#pragma once
// CellRun: one step of a session while it runs, for a loop that polls. Its output comes as it is
// written, and it can be given input, interrupted and withdrawn.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/engine/engine.h"
#include "runtime/job/live_io.h"

namespace cli {

class CellRun {
 public:
  static sys::Result<std::unique_ptr<CellRun>> start(runtime::Engine& engine, runtime::Job job);
  ~CellRun();
  CellRun(const CellRun&) = delete;

  int fd() const;  // readable: there is output, or it has ended
  void heed();     // not readable any more: what is looked for from here on is seen
  int input_fd() const { return unwritten_.empty() ? -1 : input_.get(); }
  runtime::LiveIo::News take();
  std::optional<runtime::JobResult> result();  // once, when it has ended

  void give(std::string_view input);
  void write_on();  // what its stdin had no room for
  // As Ctrl-C does: the program may go on.
  void interrupt();
  void withdraw();

 private:
  struct Ended;
  explicit CellRun(runtime::Engine& engine) : engine_(engine) {}

  runtime::Engine& engine_;
  std::shared_ptr<Ended> ended_;
  std::shared_ptr<runtime::LiveIo> live_;
  std::shared_ptr<runtime::JobWatch> watch_;
  sys::OwnedFd input_;
  std::string unwritten_;
};

}  // namespace cli
