#pragma once
// SessionJournal: keeps the sessions of a service in its ledger as they go on, and brings them back
// in the next service: their steps, from which their nodes are made anew when they are asked for.
// Loop thread only.

#include <functional>
#include <string>
#include <vector>

#include "service/durable/ledger_writer.h"
#include "service/sessions/session_book.h"

namespace service {

class SessionJournal {
 public:
  // Called once, with whether it is on the disk (LedgerWriter); null: nobody waits for it.
  using Then = std::function<void(LedgerWriter::Made)>;
  // What lies under the first steps of this service's sessions.
  struct Under {
    std::string text;  // of the defaults; may be empty
    std::string template_name;
  };

  SessionJournal(LedgerWriter& writer, Under under) : writer_(writer), under_(std::move(under)) {}

  // All steps or none; each behind the one that it goes on from. With the first of a session it
  // begins there.
  void keep(const Session& session, const std::vector<const SessionStep*>& steps, Then then);
  void note_deleted(const std::string& node, Then then);
  void take_out(const std::string& node);
  void end(const std::string& session, Then then);

 private:
  LedgerWriter& writer_;
  const Under under_;
};

// A session that an earlier service had: none of its nodes is there. `why_gone` ends the sentence
// that says so of each. An error: its first step cannot be read any more.
struct Restored {
  Session session;  // without steps
  std::vector<SessionStep> steps;
};
sys::Result<Restored> restore(const SessionRow& row, const std::string& why_gone);

}  // namespace service
