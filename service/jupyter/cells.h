#pragma once
// Cells: runs the steps of a kernel's session, wherever its engine is. CellRun is one of them while
// it runs: its output comes as it is written, and it can be given input, interrupted and withdrawn.
// The kernel's thread.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/job/live_io.h"
#include "runtime/job/result.h"
#include "sandbox/sys/result.h"

namespace service::jupyter {

struct CellOrder {
  std::string node;  // that it goes on from; empty: it begins the session
  std::string source;
  bool keep = true;  // what it does stays
};

struct CellEnd {
  std::string node = {};  // that it left; empty: its state was not kept
  // Why it was not, in words; empty: it ran to no end of its own, or was not to be kept.
  std::string why_not = {};
  std::string label = {};    // of its verdict
  std::string verdict = {};  // that in a line
  bool is_fine = false, is_cancelled = false;
  bool is_lost = false;  // the node that it should go on from is not there any more
  std::optional<runtime::Exception> exception = std::nullopt;

  bool was_kept() const { return !node.empty(); }
};
// `verdict`: the line.
CellEnd end_of(const runtime::JobResult& result, std::string verdict);

class CellRun {
 public:
  virtual ~CellRun() = default;
  virtual runtime::LiveIo::News take() = 0;  // what it wrote since the last look
  // Once, when it has ended; all output is there then.
  virtual std::optional<CellEnd> end() = 0;
  virtual void give(std::string_view input) = 0;
  virtual void interrupt() = 0;  // as Ctrl-C does: the program may go on
  virtual void withdraw() = 0;
};

class Cells {
 public:
  virtual ~Cells() = default;
  // An error: it cannot be run, in words.
  virtual sys::Result<std::unique_ptr<CellRun>> start(CellOrder order) = 0;
  // A node that nobody goes back to.
  virtual void forget(const std::string& node) = 0;
};

}  // namespace service::jupyter
