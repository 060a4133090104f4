#pragma once
// Interpreter: runs the steps of one session, and jobs beside it. The tools stand on it, so that
// they are the same over a service's sessions and over a test's. Loop thread only; an answer may
// come before the call returns.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "service/apis/mcp/json_rpc.h"
#include "service/apis/mcp/outcome.h"

namespace service::mcp {

class Interpreter {
 public:
  using Ticket = uint64_t;  // 0: it is over already
  struct Begun {
    std::string node;     // empty: there is none
    std::string refusal;  // why, in a sentence
  };
  struct Ended {
    std::string node;                // that the step has left; empty: none was kept
    std::string why_not;             // in words
    std::optional<Outcome> outcome;  // none: it was refused
    std::string refusal;             // why, in a sentence
    bool is_gone = false;            // the node that it was to go on from is not there any more
  };
  using Told = std::function<void(Ended)>;

  virtual ~Interpreter() = default;
  virtual Ticket begin(std::function<void(Begun)> told) = 0;
  // `fields` as a job has them (docs/jobs.md).
  virtual Ticket run(const std::string& node, const Json& fields, Bounds bounds, Told told) = 0;
  virtual Ticket run_job(const Json& fields, Bounds bounds, Told told) = 0;
  virtual void withdraw(Ticket ticket) = 0;
  virtual void forget(const std::string& node) = 0;  // it is not needed any longer
  virtual void end() = 0;                            // the session, and all of its nodes
};

}  // namespace service::mcp
