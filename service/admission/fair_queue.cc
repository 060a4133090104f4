#include "service/admission/fair_queue.h"

#include <algorithm>

namespace service {

void FairQueue::push(Ticket ticket, const std::string& client, int priority) {
  auto [found, fresh] = clients_.try_emplace(client);
  if (fresh) turns_.push_back(client);
  found->second.waiting[priority].push_back(ticket);
  ++found->second.count;
  places_[ticket] = {priority, client};
}

std::optional<FairQueue::Ticket> FairQueue::pop(
    const std::function<bool(const std::string&)>& may) {
  const auto turn = may ? std::find_if(turns_.begin(), turns_.end(), may) : turns_.begin();
  if (turn == turns_.end()) return std::nullopt;
  turns_.splice(turns_.end(), turns_, turn);
  const std::string name = turns_.back();
  Client& client = clients_.at(name);
  auto& [priority, queue] = *client.waiting.begin();
  const Ticket ticket = queue.front();
  queue.pop_front();
  took_one(name, client, priority);
  places_.erase(ticket);
  return ticket;
}

bool FairQueue::remove(Ticket ticket) {
  auto place = places_.find(ticket);
  if (place == places_.end()) return false;
  const auto [priority, name] = place->second;
  Client& client = clients_.at(name);
  std::deque<Ticket>& queue = client.waiting.at(priority);
  queue.erase(std::find(queue.begin(), queue.end(), ticket));
  took_one(name, client, priority);
  places_.erase(place);
  return true;
}

size_t FairQueue::size_of(const std::string& client) const {
  auto found = clients_.find(client);
  return found == clients_.end() ? 0 : found->second.count;
}

void FairQueue::took_one(const std::string& name, Client& client, int priority) {
  auto level = client.waiting.find(priority);
  if (level->second.empty()) client.waiting.erase(level);
  if (--client.count > 0) return;
  clients_.erase(name);
  turns_.remove(name);
}

}  // namespace service
