#pragma once
// SessionBook: the sessions that clients of a service have begun: the steps of each as a tree of
// nodes, and what each step was. The states themselves are the engine's, and may go earlier.
// Bounded as the engine's nodes are: a tenant may have half of what the others have left, and what
// it has beyond that goes, the session that was not used for longest first. Pure; loop thread only.

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "runtime/json/job/job_json.h"
#include "sandbox/sys/units.h"

namespace service {

// A step that has left a node.
struct SessionStep {
  std::string node, parent;              // no parent: the first
  std::string body;                      // as it was sent: an object of JSON, without white space
  std::string label;                     // how it ended
  int64_t bytes = 0;                     // of the node
  sys::Milliseconds when{};              // since 1970
  std::shared_ptr<void> held = nullptr;  // counts it, for its client
  std::string gone = {};    // why the node is, in a sentence; empty: as far as is known it is there
  bool is_deleted = false;  // its client wanted it gone
  bool is_written = false;  // to the disk
  std::string replayed = {};  // the engine's node that a replay of its log has made
  // What the engine knows it by.
  const std::string& state() const { return replayed.empty() ? node : replayed; }
};

struct Session {
  std::string id, tenant;
  std::shared_ptr<const runtime::JobDefaults> defaults;  // of its steps
  bool is_replayable = false;  // its steps are in its log as they were run
  // What lay under its first step; none: the defaults of this service.
  std::shared_ptr<const runtime::JobDefaults> under = nullptr;
  std::map<uint64_t, SessionStep> steps = {};  // in the order in which they ended
};

class SessionBook {
 public:
  struct Plan {
    size_t most_steps = 20'000;
    size_t most_bytes = size_t{64} << 20;
    sys::Nanoseconds idle = std::chrono::hours(24);  // a session that nobody used for so long goes
  };
  // Nodes that the engine need not keep any longer.
  struct Freed {
    std::string tenant, session;  // the one that has ended
    bool was_replayable = false;
    std::vector<std::string> nodes;
  };
  // There is no such session or node for whoever asks.
  struct Missing {
    bool was_there = false;
    std::string why;  // a sentence
  };
  struct Place {
    Session* session = nullptr;
    SessionStep* step = nullptr;
  };
  // Tells whether whoever asks may see what is this tenant's.
  using Sees = std::function<bool(const std::string& tenant)>;

  explicit SessionBook(Plan plan) : plan_(plan) {}

  // Would there be room for one more step, were the tenant's other sessions to go?
  bool has_room(const std::string& tenant, const std::string& session, size_t bytes) const;
  // Both take a step in, and return what had to go for it.
  std::vector<Freed> begin(Session session, SessionStep first, sys::Nanoseconds now);
  // The session has to be there.
  std::vector<Freed> add(const std::string& session, SessionStep step, sys::Nanoseconds now);

  std::variant<Session*, Missing> find_session(const std::string& id, const Sees& sees,
                                               sys::Nanoseconds now);
  std::variant<Place, Missing> find_node(const std::string& id, const Sees& sees,
                                         sys::Nanoseconds now);
  // Those of the tenants that whoever asks may see, the most recently used first; `most` at most,
  // and how many there are. To be listed is no use.
  struct Listing {
    std::vector<const Session*> sessions;
    size_t all = 0;
  };
  Listing list(const Sees& sees, size_t most) const;
  bool has_session(const std::string& id) const { return sessions_.contains(id); }
  bool has_node(const std::string& id) const { return nodes_.contains(id); }

  // The steps from the first to this one.
  std::vector<const SessionStep*> path_to(const Place& place) const;

  // The node is gone, its step stays: others may have gone on from it. Empty, already gone, or with
  // another state than `state` meanwhile: no change.
  void note_gone(const std::string& node, const std::string& state, const std::string& why);
  void note_deleted(const std::string& node, const std::string& why);
  // A node that was gone is there again, as this node of the engine's. False: it was not, or its
  // session has ended.
  bool put_back(const std::string& node, const std::string& state, int64_t bytes);
  // The nodes that have to be made anew for this one to be there, the first one in front: itself
  // and those before it up to one that is there.
  std::vector<std::string> missing_before(const std::string& node) const;
  size_t depth_of(const std::string& node) const;  // 1: the first; 0: there is no such node
  // Null: there is no such node.
  const SessionStep* step_of(const std::string& node) const;
  const Session* session_of(const std::string& node) const;
  // The same, but a step that none goes on from is taken out.
  void take_out(const std::string& node, const std::string& why);
  // A step that is of no interest any more is taken out, and those that went on from it are then
  // behind its parent. Nothing is left of it, not even why it is gone. The first of a session
  // stays.
  void leave_out(const std::string& node, const std::string& why);
  // A session that was there before this service and is not any more.
  void note_lost(const std::string& session, const std::string& tenant, const std::string& why);
  // Those that are not on the disk yet of this node and the ones before it, the first one in front.
  std::vector<const SessionStep*> unwritten_before(const std::string& node) const;
  void note_written(const std::string& node);
  // Ends a session; the nodes that are to be freed. `why`: a part of a sentence.
  Freed end(const std::string& session);
  Freed end(const std::string& session, const std::string& why);
  std::vector<Freed> end_idle(sys::Nanoseconds now);

  static size_t bytes_of(const SessionStep& step);
  size_t sessions() const { return sessions_.size(); }
  size_t steps() const { return steps_; }
  size_t bytes() const { return bytes_; }

 private:
  struct Kept {
    Session session;
    sys::Nanoseconds used{};
    size_t bytes = 0;
    std::list<std::string>::iterator place;  // in its tenant's order
  };
  struct Share {
    size_t bytes = 0, steps = 0;
    std::list<std::string> by_use;  // ids of sessions, the least recently used first
  };
  struct Where {
    std::string session;
    uint64_t number = 0;
  };
  struct Gone {
    std::string tenant, why;
  };

  bool fits(const Share& share, size_t bytes) const;
  std::vector<Freed> make_room(const std::string& tenant, const std::string& keep, size_t bytes);
  void put(Kept& kept, SessionStep step);
  void count(Kept& kept, size_t bytes, size_t before);
  void remove(Kept& kept, uint64_t number);
  void use(Kept& kept, sys::Nanoseconds now);
  void note(const std::string& id, const std::string& tenant, std::string why);
  SessionStep* find_step(const std::string& node);
  Missing missing(const std::string& kind, const std::string& id, const Sees& sees) const;

  const Plan plan_;
  size_t bytes_ = 0, steps_ = 0;
  uint64_t last_ = 0;
  std::unordered_map<std::string, Kept> sessions_;
  std::unordered_map<std::string, Where> nodes_;
  std::map<std::string, Share> shares_;  // by tenants
  // The last that have gone, so that who names one is told why.
  std::unordered_map<std::string, Gone> gone_;
  std::deque<std::string> gone_order_;
};

}  // namespace service
