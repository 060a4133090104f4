#pragma once
// SessionKeeper: the sessions of a service. Has their book, and tells the engine which nodes need
// not be kept any longer. Loop thread only.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "service/apis/native/context.h"
#include "service/sessions/session_book.h"

namespace service {

class SessionKeeper {
 public:
  explicit SessionKeeper(const NativeContext& context);

  // What is known of a step before it has run.
  struct Making {
    std::string session, tenant, parent;
    std::string body;
    std::shared_ptr<void> held;  // counts the body, for its client
  };

  // Tells whether this client may see what is this tenant's: its own, and all that it may name.
  SessionBook::Sees sees(const std::string& client) const;
  // What a job of this client says, to be this tenant's.
  std::string asked_for(const std::string& client, const std::string& tenant) const;

  // Both take the node of a step in. Empty: it left none, or it is gone with its session.
  std::string begin(Making making, const runtime::Job& job, const Finished& finished);
  std::string keep(Making making, const Finished& finished);
  // A node that is in no session yet.
  void forget(const std::string& tenant, const std::string& node);
  // A node that turned out not to be wanted.
  void take_out(const std::string& tenant, const std::string& node);
  void delete_node(const SessionBook::Place& place);
  void end(const std::string& session);
  void end_idle();
  // Looks which nodes are there still, and then calls `then`.
  void refresh(const Session& session, std::function<void()> then);
  // Why a node is gone (empty: it is there), in a sentence.
  void ask(const std::string& tenant, const std::string& node,
           std::function<void(std::string why)> then);

  SessionBook& book() { return book_; }

 private:
  void free(const std::vector<SessionBook::Freed>& freed);
  // `then` gets why each node is gone, or nothing.
  using Whys = std::vector<std::string>;
  void look_for(const std::string& tenant, std::vector<std::string> nodes,
                std::function<void(const Whys&)> then);

  const NativeContext context_;
  SessionBook book_;
  // Answers of the engine may come when nobody is there for them any more.
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace service
