#pragma once
// CodeRun: one execution of code in a sandbox, told to its client while it runs: what it prints and
// shows, and then how it ended. A client that takes nothing keeps what the job's limits of output
// allow waiting. Loop thread only.

#include <memory>
#include <optional>
#include <string>

#include "runtime/job/live_io.h"
#include "runtime/loop/loop.h"
#include "service/apis/e2b/records.h"
#include "service/http/exchange.h"
#include "service/jupyter/markers.h"

namespace service::e2b {

class CodeRun : public std::enable_shared_from_this<CodeRun> {
 public:
  // `word`: of the sandbox.
  CodeRun(ExchangePtr exchange, runtime::Loop& loop, const std::string& word);
  ~CodeRun();
  CodeRun(const CodeRun&) = delete;

  // It is its turn: where the job's output comes from. An error: there are no descriptors left, and
  // all of it comes at the end.
  sys::Result<std::shared_ptr<runtime::LiveIo>> open();
  void begin(unsigned executions);
  bool has_begun() const { return has_begun_; }

  struct Ended {
    CodeEnd end;
    bool is_live = true;              // its output was taken while it ran ...
    runtime::LiveIo::News rest = {};  // ... or is all here
  };
  // Tells the rest, as fast as its client takes it, and ends the answer.
  void end(Ended ended, std::shared_ptr<void> held);

 private:
  void look();
  bool pass_on();
  void say(const nlohmann::json& said);

  const ExchangePtr exchange_;
  runtime::Wakeup news_;
  jupyter::Markers out_;
  jupyter::Characters err_;
  std::shared_ptr<runtime::LiveIo> live_;
  jupyter::Waiting new_out_, new_err_;  // its client had no room for it yet
  unsigned executions_ = 0;
  bool has_begun_ = false, is_over_ = false;
  std::optional<nlohmann::json> done_;  // how it ended, as the interpreter says
  std::optional<CodeEnd> end_;
  std::shared_ptr<void> held_;  // of the result, until all is told
};

}  // namespace service::e2b
