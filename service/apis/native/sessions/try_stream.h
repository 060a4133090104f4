#pragma once
// TryStream: one POST /v1/nodes/{node}/try. Runs many steps from one node, and the program that
// scores their values, each in a cell of its own; answers a line for each step, and a summary. A
// client that is gone before the summary keeps nothing.

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "service/apis/native/job_stream.h"
#include "service/apis/native/sessions/session_keeper.h"
#include "service/sessions/selection.h"
#include "service/sessions/session_answers.h"
#include "service/sessions/step_reader.h"

namespace service {

class TryStream : public JobStream {
 public:
  struct Plan {
    std::string session, tenant, node;
    std::string state;  // the engine's node
    std::string asked;  // of the tenant, in jobs
    std::shared_ptr<const runtime::JobDefaults> defaults;
    TryBody body;
  };
  TryStream(ExchangePtr exchange, Dispatcher& dispatcher, SessionKeeper& keeper, Plan plan,
            size_t at_once, Over over);

  const std::string& session() const { return plan_.session; }

 private:
  // A step that has ended, and perhaps waits for its score.
  struct Branch {
    Tried tried;
    SessionKeeper::Making making;
    Finished finished;
  };

  bool take_next() override;
  bool is_at_end() const override;
  bool settle() override;
  void write_end() override;
  void lose_client() override;
  bool submit_step();
  void end_step(Branch branch);
  bool submit_score();
  void end_score(Branch branch, const Finished& score);
  void tell(Branch branch, std::string why_no_score = {});
  void write(const std::string& line, std::shared_ptr<void> held = nullptr);
  void forget(const Branch& branch);
  bool has_score() const { return plan_.body.score.has_value(); }

  SessionKeeper& keeper_;
  const Plan plan_;
  Selection selection_;
  size_t next_ = 0;
  enum class Writing : uint8_t { kNot, kUnderWay, kDone };
  Writing writing_ = Writing::kNot;  // the nodes that are kept, to the disk
  sys::Result<bool> written_ = true;
  std::deque<Branch> to_score_;
};

}  // namespace service
