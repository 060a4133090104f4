#include "runtime/scheduler/admission/peers.h"

#include <algorithm>

namespace runtime {

bool Peers::leaves_shards_out() const { return capacity_.width() <= others_.size(); }

// A shard that takes tasks in and has less to do than this one, or this one takes none: the next
// task would have a core to itself there.
Peer* Peers::freer() const {
  auto freer = std::find_if(others_.begin(), others_.end(), [this](const Peer* peer) {
    return peer->takes_in() && (peer->load() < self_.load() || !self_.takes_in());
  });
  // In a pool that leaves shards out, work stays where the templates are: see warmer().
  return freer == others_.end() || leaves_shards_out() ? nullptr : *freer;
}

// Schedulers without a template are left out, as starting one is the dearest step there is.
Peer* Peers::warmer() const {
  if (self_.has_templates() || !leaves_shards_out() || admission_.empty()) return nullptr;
  auto warmer = std::find_if(others_.begin(), others_.end(), [](const Peer* peer) {
    return peer->has_templates() && peer->has_room();
  });
  return warmer == others_.end() ? nullptr : *warmer;
}

Peer* Peers::better_placed() const {
  Peer* better = freer();
  return better && !admission_.empty() ? better : warmer();
}

// A peer may have left a task to us when we still had room: hand it back. One that is left out
// takes the other side of a conversation all the same, or its first side would wait for ever.
void Peers::hand_back() const {
  if (Peer* better = freer(); better && !admission_.empty()) return better->wake();
  if (!admission_.has_side_due()) return;
  const auto has_room = [](const Peer* peer) { return peer->has_room(); };
  const auto other = std::find_if(others_.begin(), others_.end(), has_room);
  if (other != others_.end()) (*other)->wake();
}

void Peers::wake_idle() const {
  for (Peer* peer : others_) peer->wake_if_idle();
}

void Peers::ask_back() const {
  for (Peer* peer : others_) peer->ask_back();
}

}  // namespace runtime
