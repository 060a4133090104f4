#pragma once
// ClientSessions: the conversations that clients have over HTTP, by ids that cannot be guessed.
// Each is its client's alone. Bounded: a new one of a client that has too many takes the place of
// its least recently used one; where all together have too many, one of the client who has the most
// that are not busy goes. So does one that nobody uses. Loop thread only.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/sys/units.h"
#include "service/apis/mcp/conversation.h"

namespace service::mcp {

class ClientSessions {
 public:
  struct Limits {
    size_t most = 1000, most_of_client = 64;
    sys::Nanoseconds idle = std::chrono::minutes(30);
  };
  explicit ClientSessions(Limits limits) : limits_(limits) {}

  using ConversationPtr = std::shared_ptr<Conversation>;
  // Empty: this client, or all together, have too many that are busy. What had to go is closed.
  std::string add(const std::string& client, ConversationPtr conversation, sys::Nanoseconds now);
  // Null: there is none of this id for this client.
  ConversationPtr find(const std::string& id, const std::string& client, sys::Nanoseconds now);
  // False as above.
  bool end(const std::string& id, const std::string& client);
  void end_idle(sys::Nanoseconds now);
  // When the next one may have been idle for too long; none: there are no sessions.
  std::optional<sys::Nanoseconds> next_end() const;
  size_t size() const { return sessions_.size(); }

 private:
  struct Kept {
    std::string client;
    ConversationPtr conversation;
    sys::Nanoseconds used{};
  };
  using Sessions = std::map<std::string, Kept>;
  void close(Sessions::iterator session);
  // The least recently used one of this client that is not busy.
  Sessions::iterator oldest(const std::string& client);
  // The client who can spare most of them; of several the one whose were not used for longest.
  std::string wealthiest() const;

  const Limits limits_;
  Sessions sessions_;
};

}  // namespace service::mcp
