#include "service/fair_queue.h"

#include <algorithm>

namespace service {

void FairQueue::push(Ticket ticket, const std::string& client, int priority) {
  Level& level = levels_[priority];
  auto [queue, fresh] = level.waiting.try_emplace(client);
  if (fresh) level.turns.push_back(client);
  queue->second.push_back(ticket);
  places_[ticket] = {priority, client};
}

std::optional<FairQueue::Ticket> FairQueue::pop() {
  if (levels_.empty()) return std::nullopt;
  auto best = levels_.begin();
  Level& level = best->second;
  std::deque<Ticket>& queue = level.waiting[level.turns.front()];
  const Ticket ticket = queue.front();
  queue.pop_front();
  if (queue.empty()) {
    forget_client(level, std::string(level.turns.front()));
  } else {
    level.turns.splice(level.turns.end(), level.turns, level.turns.begin());
  }
  if (level.turns.empty()) levels_.erase(best);
  places_.erase(ticket);
  return ticket;
}

bool FairQueue::remove(Ticket ticket) {
  auto place = places_.find(ticket);
  if (place == places_.end()) return false;
  auto level = levels_.find(place->second.priority);
  std::deque<Ticket>& queue = level->second.waiting[place->second.client];
  queue.erase(std::find(queue.begin(), queue.end(), ticket));
  if (queue.empty()) forget_client(level->second, place->second.client);
  if (level->second.turns.empty()) levels_.erase(level);
  places_.erase(place);
  return true;
}

void FairQueue::forget_client(Level& level, const std::string& client) {
  level.waiting.erase(client);
  level.turns.remove(client);
}

}  // namespace service
