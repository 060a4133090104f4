#pragma once
// Workbench: does what the calls of one client's tools ask for. Calls that read or move the
// session's state run one after the other, in the order in which they came; programs of other
// languages run beside them. Loop thread only.

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "service/apis/mcp/interpreter.h"
#include "service/apis/mcp/tool_calls.h"
#include "service/apis/mcp/tool_results.h"

namespace service::mcp {

class Workbench {
 public:
  static constexpr size_t kMostUndo = 200;    // steps
  static constexpr size_t kMostWaiting = 64;  // calls

  using Key = uint64_t;  // its caller's
  // So many parts of a call of so many are done.
  using Progress = std::function<void(size_t done, size_t of)>;
  using Told = std::function<void(Json result)>;

  explicit Workbench(std::unique_ptr<Interpreter> interpreter)
      : interpreter_(std::move(interpreter)) {}
  Workbench(const Workbench&) = delete;
  // Calls that run are withdrawn, and not told.
  ~Workbench();

  // `told` is called once, perhaps before this returns.
  void start(Key key, ToolCall call, Progress progress, Told told);
  // The call leaves the state as it was before, and is told soon.
  void cancel(Key key);
  bool is_busy() const { return active_ || !beside_.empty(); }

 private:
  struct Errand {
    Key key;
    ToolCall call;
    Progress progress;
    Told told;
    bool is_cancelled = false;
    std::vector<Interpreter::Ticket> tickets;
    // Of TryMany.
    std::vector<TriedOne> tried;
    std::vector<std::string> nodes;
    size_t ended = 0;
    std::string gone;  // why its node is, in a sentence; empty: it is there
  };
  using ErrandPtr = std::shared_ptr<Errand>;

  void next();
  void perform(const ErrandPtr& errand);
  void run(const ErrandPtr& errand, const RunPython& call);
  void run(const ErrandPtr& errand, const TryMany& call);
  void run(const ErrandPtr& errand, const Undo& call);
  void run(const ErrandPtr& errand, const ReadFile& call);
  void run(const ErrandPtr& errand, const WriteFile& call);
  void run(const ErrandPtr& errand, const RunProgram& call);
  // One step at the present node; `then` is not called where there is nothing to tell of it.
  void step(const ErrandPtr& errand, const Json& fields, Bounds bounds,
            std::function<void(Interpreter::Ended)> then);
  void end_try(const ErrandPtr& errand, size_t index, Interpreter::Ended ended);
  void conclude_try(const ErrandPtr& errand);
  // Moves on to what a step has left, or not.
  Standing take(const ErrandPtr& errand, const Interpreter::Ended& ended);
  void move_on(std::string node);
  // The answer to a call that has found nothing to go on from.
  Json lose_state(std::string_view why);
  void finish(const ErrandPtr& errand, Json result);
  size_t steps() const { return path_.empty() ? 0 : forgotten_ + path_.size() - 1; }

  const std::unique_ptr<Interpreter> interpreter_;
  std::vector<std::string> path_;  // nodes from the first that is kept to the present one
  size_t forgotten_ = 0;           // of those before them
  std::deque<ErrandPtr> waiting_;
  ErrandPtr active_;
  std::unordered_map<Key, ErrandPtr> beside_;
  // Answers may come when nobody is there for them any more.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace service::mcp
