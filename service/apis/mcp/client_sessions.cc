#include "service/apis/mcp/client_sessions.h"

#include <algorithm>
#include <utility>

#include "service/admission/dispatcher.h"

namespace service::mcp {

using sys::Nanoseconds;

ClientSessions::Sessions::iterator ClientSessions::oldest(const std::string& client) {
  auto found = sessions_.end();
  for (auto each = sessions_.begin(); each != sessions_.end(); ++each) {
    const Kept& kept = each->second;
    if (kept.client != client || kept.conversation->is_busy()) continue;
    if (found == sessions_.end() || kept.used < found->second.used) found = each;
  }
  return found;
}

std::string ClientSessions::wealthiest() const {
  struct Spare {
    size_t count = 0;
    Nanoseconds used = Nanoseconds::max();  // the oldest
  };
  std::map<std::string, Spare> spare;
  for (const auto& [id, kept] : sessions_) {
    if (kept.conversation->is_busy()) continue;
    Spare& of = spare[kept.client];
    ++of.count;
    of.used = std::min(of.used, kept.used);
  }
  const auto most = std::ranges::max_element(spare, [](const auto& one, const auto& other) {
    return std::pair(one.second.count, -one.second.used) <
           std::pair(other.second.count, -other.second.used);
  });
  return most == spare.end() ? "" : most->first;
}

// It is in no list any more when those who wait for it are answered.
void ClientSessions::close(Sessions::iterator session) {
  const ConversationPtr conversation = std::move(session->second.conversation);
  sessions_.erase(session);
  conversation->close();
}

std::string ClientSessions::add(const std::string& client, ConversationPtr conversation,
                                Nanoseconds now) {
  const auto own = static_cast<size_t>(std::ranges::count_if(
      sessions_, [&client](const auto& each) { return each.second.client == client; }));
  const bool has_most = own >= limits_.most_of_client;
  if (has_most || sessions_.size() >= limits_.most) {
    const auto old = oldest(has_most ? client : wealthiest());
    if (old == sessions_.end()) return "";
    close(old);
  }
  const std::string id = new_job_id().substr(2);
  sessions_.emplace(id, Kept{client, std::move(conversation), now});
  return id;
}

ClientSessions::ConversationPtr ClientSessions::find(const std::string& id,
                                                     const std::string& client, Nanoseconds now) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second.client != client) return nullptr;
  found->second.used = now;
  return found->second.conversation;
}

bool ClientSessions::end(const std::string& id, const std::string& client) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second.client != client) return false;
  close(found);
  return true;
}

void ClientSessions::end_idle(Nanoseconds now) {
  std::vector<std::string> idle;
  for (auto& [id, kept] : sessions_) {
    if (kept.conversation->is_busy()) kept.used = now;
    if (now - kept.used >= limits_.idle) idle.push_back(id);
  }
  for (const std::string& id : idle) {
    if (const auto found = sessions_.find(id); found != sessions_.end()) close(found);
  }
}

std::optional<Nanoseconds> ClientSessions::next_end() const {
  if (sessions_.empty()) return std::nullopt;
  const auto first =
      std::ranges::min_element(sessions_, {}, [](const auto& each) { return each.second.used; });
  return first->second.used + limits_.idle;
}

}  // namespace service::mcp
