#include "runtime/scheduler/admission/shares.h"

#include <algorithm>

namespace runtime {

void Shares::seen(const std::string& client, sys::Nanoseconds now) {
  if (left_alone_ == 0 || client.empty()) return;
  std::erase_if(clients_, [&](const auto& entry) { return !is_about(entry.second, now); });
  clients_[client].last = now;
}

bool Shares::may_begin(const std::string& client, size_t count, sys::Nanoseconds now) const {
  const auto found = clients_.find(client);
  if (found == clients_.end() || found->second.running == 0) return true;
  if (running_ + count <= workers_ - left_alone_) return true;
  return std::none_of(clients_.begin(), clients_.end(), [&](const auto& other) {
    return other.first != client && is_about(other.second, now);
  });
}

void Shares::began(const std::string& client) {
  ++running_;
  if (left_alone_ > 0 && !client.empty()) ++clients_[client].running;
}

void Shares::ended(const std::string& client) {
  --running_;
  if (const auto found = clients_.find(client); found != clients_.end()) --found->second.running;
}

}  // namespace runtime
