#pragma once
// NodeTurns: which steps are under way, and who waits for the end of one, because what these go on
// from and leave has the memory for nodes. Of all schedulers of an engine; thread-safe.
//
// A step that cannot have its node read waits as a task, without a worker. A step that has run, and
// cannot leave its node, waits in its thread, and only as long as another of its tenant may end:
// where all of them wait, the last gives up. It has the first chance.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/scheduler/task.h"
#include "runtime/sessions/node_budget.h"
#include "sandbox/sys/units.h"

namespace runtime {

class NodeTurns : public std::enable_shared_from_this<NodeTurns> {
 public:
  // `returned`: a task is to be tried again. On the thread that ended a turn; it does not end the
  // task. `patience`: how long a step that has run may wait, as it has a worker meanwhile.
  explicit NodeTurns(std::function<void(TaskPtr)> returned,
                     sys::Nanoseconds patience = std::chrono::seconds(1))
      : returned_(std::move(returned)), patience_(patience) {}

  // The task's step may have memory of nodes, until the last copy is gone.
  std::shared_ptr<NodeTurn> begin(Task& task);
  // Likewise who gives memory of nodes back: it is free when the turn ends.
  std::shared_ptr<NodeTurn> begin(const std::string& tenant);
  enum class Fate : uint8_t {
    kWaits,  // the task was taken
    kAgain,  // a turn has ended meanwhile: there may be room now
    kNever,  // no other step is under way
  };
  // There was no room for the task, whose turn began before it looked. That ends where it waits.
  Fate wait(TaskPtr& task);
  // No other step of the task's tenant is under way.
  bool is_alone(const Task& task);
  // True: the task was taken, as what other steps of its tenant leave comes first.
  bool gives_way(TaskPtr& task);
  // There was room: perhaps there is more.
  void go_on(const std::string& tenant);
  size_t waiting();  // tasks
  std::vector<TaskPtr> take_all();
  std::vector<TaskPtr> take_withdrawn();

  // Takes room for what a step of the tenant leaves, now or when another has ended. Null: there is
  // none.
  NodeBudget::Hold take(const std::string& tenant, const std::function<NodeBudget::Hold()>& room);

 private:
  friend class NodeTurn;
  friend class NodeCall;
  struct Tenant {
    size_t under_way = 0, blocked = 0;  // of these: in take()
    std::deque<TaskPtr> waiting;
  };
  void end(const std::string& tenant);
  void keep(TaskPtr& task);
  void give_back_first_of(const std::string& name, Tenant& tenant);
  bool await_end(const std::string& tenant, uint64_t seen);
  std::vector<TaskPtr> take_if(const std::function<bool(const Task&)>& is_wanted);

  const std::function<void(TaskPtr)> returned_;
  const sys::Nanoseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t under_way_ = 0;
  uint64_t ended_ = 0;                     // turns, ever
  std::map<std::string, Tenant> tenants_;  // that have steps under way, or waiting
};

class NodeTurn {
 public:
  NodeTurn(std::shared_ptr<NodeTurns> of, std::string tenant, uint64_t ended_before)
      : of_(std::move(of)), tenant_(std::move(tenant)), ended_before_(ended_before) {}
  ~NodeTurn() {
    if (of_) of_->end(tenant_);
  }
  NodeTurn(const NodeTurn&) = delete;
  NodeTurn& operator=(const NodeTurn&) = delete;

 private:
  friend class NodeTurns;
  std::shared_ptr<NodeTurns> of_;  // null: it has ended
  const std::string tenant_;
  uint64_t ended_before_;
};

// A task that was given back has one: where it ends before its turn, the next one is given back.
class NodeCall {
 public:
  NodeCall(std::shared_ptr<NodeTurns> of, std::string tenant)
      : of_(std::move(of)), tenant_(std::move(tenant)) {}
  ~NodeCall() {
    if (of_) of_->go_on(tenant_);
  }
  NodeCall(const NodeCall&) = delete;
  NodeCall& operator=(const NodeCall&) = delete;

 private:
  friend class NodeTurns;
  std::shared_ptr<NodeTurns> of_;  // null: it has its turn
  const std::string tenant_;
};

}  // namespace runtime
