#pragma once
// SessionKeeper: the sessions of a service, whichever API began them. Has their book, knows which
// of their steps run, and tells the engine which nodes need not be kept any longer. Loop thread
// only.

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/loop/loop.h"
#include "service/admission/dispatcher.h"
#include "service/admission/tenancy.h"
#include "service/sessions/session_book.h"
#include "service/sessions/session_journal.h"

namespace service {

class SessionKeeper {
 public:
  // The parts of the service that it uses; all of them outlive it.
  struct Parts {
    const Tenancy& tenancy;
    runtime::Engine& engine;
    runtime::Loop& loop;
    Dispatcher& dispatcher;
  };
  // `most_held`: bytes that the service holds for all clients.
  SessionKeeper(Parts parts, size_t most_held);

  // From now on sessions are kept on the disk; those that an earlier service had are here again.
  // One without a step since `since` is over.
  void open(std::unique_ptr<SessionJournal> journal, const std::vector<SessionRow>& earlier,
            sys::Milliseconds since);

  // What is known of a step before it has run.
  struct Making {
    std::string session, tenant, parent;
    std::string body;
    std::shared_ptr<void> held;  // counts the body, for its client
    bool is_replayable = false;  // of the first step: the bodies of its session are what is run
  };

  // Tells whether this client may see what is this tenant's: its own, and all that it may name.
  SessionBook::Sees sees(const std::string& client) const;
  // What a job of this client says, to be this tenant's.
  std::string asked_for(const std::string& client, const std::string& tenant) const;

  // Both take the node of a step in. Empty: it left none, or it is gone with its session.
  std::string begin(Making making, const runtime::Job& job, const Finished& finished);
  std::string keep(Making making, const Finished& finished);
  // Calls `then` when the disk has what begin() and keep() have taken in, or does not take it: then
  // it has been taken out again. At once where nothing is kept on the disk. The nodes are all of
  // one session, and all of them are written or none.
  using Written = SessionJournal::Then;
  void when_written(const std::vector<std::string>& nodes, Written then);
  // A node that is in no session yet.
  void forget(const std::string& tenant, const std::string& node);
  // A node that turned out not to be wanted.
  void take_out(const std::string& tenant, const std::string& node,
                const std::string& why = "the request that tried it did not keep it");
  // A node that its session has left behind.
  void leave_out(const std::string& tenant, const std::string& node);
  void delete_node(const SessionBook::Place& place, Written then);
  // A step of the session that is with the dispatcher, until it has ended.
  void note_running(const std::string& session, Dispatcher::Ticket ticket);
  void note_ended(const std::string& session, Dispatcher::Ticket ticket);
  // Also withdraws the session's steps that run. `then`: when it has ended on the disk, too.
  void end(const std::string& session, const Written& then = nullptr);
  void end_idle();
  // Looks which nodes are there still, and then calls `then`.
  void refresh(const Session& session, std::function<void()> then);
  // The same for a node and those before it.
  void refresh_path(const std::string& node, std::function<void()> then);
  // Why a node is gone (empty: it is there), in a sentence.
  void ask(const std::string& tenant, const std::string& node,
           std::function<void(std::string why)> then);
  static std::string why_deleted(const std::string& node);
  // A node that was gone has been made anew, by a job that left this one. False: it is not needed.
  bool put_back(const std::string& tenant, const std::string& node, const Finished& finished);
  // One of those that its client had deleted: it was needed on the way.
  void delete_again(const std::string& tenant, const std::string& node);

  SessionBook& book() { return book_; }
  const SessionBook& book() const { return book_; }

 private:
  bool is_durable(const std::string& node) const;
  void take_back(const std::string& session, const std::vector<std::string>& nodes);
  void release(const SessionBook::Freed& freed, Written then);
  void free(const std::vector<SessionBook::Freed>& freed);
  struct Look {
    std::vector<std::string> nodes;   // as the book has them
    std::vector<std::string> states;  // as the engine has them
  };
  // `then` gets why each node is gone, or nothing.
  static void add_to(Look& look, const SessionStep& step);
  using Whys = std::vector<std::string>;
  void look_for(const std::string& tenant, Look look, std::function<void(const Whys&)> then);

  const Parts parts_;
  SessionBook book_;
  std::unique_ptr<SessionJournal> journal_;  // none: nothing is kept on the disk
  std::unordered_map<std::string, std::unordered_set<Dispatcher::Ticket>> running_;  // by sessions
  // Answers of the engine may come when nobody is there for them any more.
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace service
