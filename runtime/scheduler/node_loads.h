#pragma once
// NodeLoads: the states that steps go on from. A step whose node is on the disk has it read beside
// the scheduler, and keeps its worker meanwhile; where memory has no room, it waits without one
// until another step of its tenant has ended. On the scheduler's thread.

#include <functional>
#include <memory>
#include <utility>

#include "runtime/scheduler/node_turns.h"
#include "runtime/scheduler/replies.h"
#include "runtime/sessions/node_store.h"

namespace runtime {

class NodeLoads {
 public:
  // `nodes`: null where none are kept. `place`: a task that knows more is to be placed again.
  NodeLoads(std::shared_ptr<NodeStore> nodes, NodeTurns& turns, Replies& replies,
            std::function<void(TaskPtr)> place)
      : nodes_(std::move(nodes)), turns_(turns), replies_(replies), place_(std::move(place)) {}

  // True: the task has what it goes on from. False: it was answered, waits, or comes back by
  // `place`.
  bool obtain(TaskPtr& task);
  // The same, of a state that is in memory. False: it is not.
  bool take_present(Task& task);

 private:
  using Loaded = sys::Result<std::shared_ptr<const NodeState>>;
  void load(TaskPtr task);
  void on_loaded(TaskPtr task, Loaded loaded, bool left_room);
  void take(Task& task, std::shared_ptr<const NodeState> state);
  void wait(TaskPtr task, bool left_room);

  const std::shared_ptr<NodeStore> nodes_;
  NodeTurns& turns_;
  Replies& replies_;
  const std::function<void(TaskPtr)> place_;
};

}  // namespace runtime
