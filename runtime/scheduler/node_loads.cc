#include "runtime/scheduler/node_loads.h"

#include <string>

namespace runtime {

bool NodeLoads::obtain(TaskPtr& task) {
  const Job& job = task->job;
  if (!nodes_ || !job.is_step()) return true;
  if (!task->turn) task->turn = turns_.begin(*task);
  if (!job.node || task->state || take_present(*task)) return true;
  const std::string client = task->client();
  if (turns_.gives_way(task)) {
    replies_.let_go(client);
  } else {
    load(std::move(task));
  }
  return false;
}

bool NodeLoads::take_present(Task& task) {
  auto state = nodes_->state_of(*task.job.node);
  if (!state) return false;
  if (!task.turn) task.turn = turns_.begin(task);
  take(task, std::move(state));
  return true;
}

// The holder of the state has the turn, too, which ends after it.
void NodeLoads::take(Task& task, std::shared_ptr<const NodeState> state) {
  struct Use {
    std::shared_ptr<NodeTurn> turn;
    std::shared_ptr<const NodeState> state;
  };
  const NodeState* of = state.get();
  task.state = {std::make_shared<Use>(Use{task.turn, std::move(state)}), of};
  turns_.go_on(task.job.tenant);
}

void NodeLoads::load(TaskPtr task) {
  auto loaded = std::make_shared<Loaded>(std::shared_ptr<const NodeState>());
  const bool leaves_room = !turns_.is_alone(*task);
  replies_.work_aside(
      std::move(task),
      [loaded, leaves_room, nodes = nodes_](Task& each) {
        *loaded = nodes->load(*each.job.node, leaves_room);
      },
      [this, loaded, leaves_room](TaskPtr back) {
        on_loaded(std::move(back), std::move(*loaded), leaves_room);
      });
}

void NodeLoads::on_loaded(TaskPtr task, Loaded loaded, bool left_room) {
  if (task->job.is_withdrawn()) return replies_.withdraw_leased(std::move(task));
  if (!loaded) return replies_.refuse(std::move(task), "session: " + loaded.error().text());
  if (!*loaded) return wait(std::move(task), left_room);
  take(*task, std::move(loaded).value());
  place_(std::move(task));
}

void NodeLoads::wait(TaskPtr task, bool left_room) {
  const std::string client = task->client();
  switch (turns_.wait(task)) {
    case NodeTurns::Fate::kWaits:
      return replies_.let_go(client);
    case NodeTurns::Fate::kAgain:
      return place_(std::move(task));
    case NodeTurns::Fate::kNever:
      if (left_room) return place_(std::move(task));  // alone it needs less
      break;
  }
  replies_.fail(std::move(task),
                {shim::Step::kRestore, 0, "its node is on the disk, and others have the memory"});
}

}  // namespace runtime
