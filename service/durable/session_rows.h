#pragma once
// SessionRows: the sessions of a service in the ledger's file: what their steps were, as they were
// sent, so that a later service can make their nodes anew. Blocks; one thread at a time, as the
// ledger. Bodies are untrusted and not parsed.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sandbox/sys/result.h"
#include "service/durable/database.h"

namespace service {

// A step that left a node.
struct StepRow {
  std::string node, parent;  // no parent: the first of its session
  std::string body;          // as it was sent
  std::string label;         // how it ended
  int64_t bytes = 0;         // of the node
  int64_t when_ms = 0;       // since 1970
  bool is_deleted = false;   // its client wanted the node gone
};

struct SessionRow {
  std::string id, tenant;
  std::string defaults, template_name;  // that lay under its first step; may be empty
  std::vector<StepRow> steps = {};      // in the order in which they ended
};

// One that is there already stays, and gets the steps that it has not.
struct SessionBegun {
  SessionRow session;  // with its first step, or more
};
// All of them or none. One that is there already stays as it is.
struct StepsKept {
  std::string session;
  std::vector<StepRow> steps;  // each behind the one that it goes on from
};
struct NodeDeleted {
  std::string node;  // its step stays: others may have gone on from it
};
struct StepTakenOut {
  std::string node;
};
struct SessionOver {
  std::string session;
};
using SessionChange = std::variant<SessionBegun, StepsKept, NodeDeleted, StepTakenOut, SessionOver>;

// Is something gone by it? Such a change is made sooner or later, whatever fails.
bool takes_away(const SessionChange& change);

class SessionRows {
 public:
  // Of the file's version 2.
  static constexpr const char* kTables =
      "CREATE TABLE sessions ("
      "  number INTEGER PRIMARY KEY,"
      "  id TEXT NOT NULL UNIQUE,"
      "  tenant TEXT NOT NULL,"
      "  defaults TEXT NOT NULL,"
      "  template TEXT NOT NULL);"
      "CREATE TABLE steps ("
      "  number INTEGER PRIMARY KEY,"
      "  session INTEGER NOT NULL,"
      "  node TEXT NOT NULL UNIQUE,"
      "  parent TEXT NOT NULL,"
      "  body BLOB NOT NULL,"
      "  label TEXT NOT NULL,"
      "  bytes INTEGER NOT NULL,"
      "  when_ms INTEGER NOT NULL,"
      "  deleted INTEGER NOT NULL DEFAULT 0);"
      "CREATE INDEX steps_by_session ON steps(session, number);";

  explicit SessionRows(Database& database) : database_(database) {}

  // Within the caller's transaction. False: what it needs is not there, its session or its parent;
  // nothing has changed.
  sys::Result<bool> write(const SessionChange& change);
  // The one that has had no new step for longest first. Writes nothing.
  sys::Result<std::vector<SessionRow>> load();

 private:
  sys::Result<bool> make(const SessionBegun& begun);
  sys::Result<bool> make(const StepsKept& kept);
  sys::Result<bool> make(const NodeDeleted& deleted);
  sys::Result<bool> make(const StepTakenOut& out);
  sys::Result<bool> make(const SessionOver& over);
  sys::Result<bool> insert(const std::string& session, const StepRow& step);
  sys::Result<bool> run_with(const char* sql, const std::string& text);
  sys::Result<std::vector<StepRow>> steps_of(int64_t session);

  Database& database_;
};

}  // namespace service
