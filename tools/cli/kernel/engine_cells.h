#pragma once
// EngineCells: the steps of a kernel as jobs of an engine in this process, for a loop that polls.

#include <memory>
#include <string>

#include "runtime/engine/engine.h"
#include "service/jupyter/cells.h"

namespace cli {

class EngineCells : public service::jupyter::Cells {
 public:
  // `common`: what all steps have. The engine outlives it.
  EngineCells(runtime::Engine& engine, runtime::Job common);

  sys::Result<std::unique_ptr<service::jupyter::CellRun>> start(
      service::jupyter::CellOrder order) override;
  void forget(const std::string& node) override;

  int fd() const;        // readable: a step has output, or has ended
  void heed();           // not readable any more: what is looked for from here on is seen
  int input_fd() const;  // of the step that has not taken all its input yet; -1: there is none
  void write_on();       // what it had no room for

 private:
  struct Events;
  class Run;

  runtime::Engine& engine_;
  const runtime::Job common_;
  const std::shared_ptr<const Events> events_;
  Run* running_ = nullptr;
  size_t jobs_ = 0;
};

}  // namespace cli
