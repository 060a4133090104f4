#pragma once
// SandboxStore: E2B's sandboxes and snapshots, each its owner's. A sandbox is one state of a
// session for each of its contexts, and moves on from node to node; several may share a session,
// and a node. Bounded. Time is an argument. Pure; loop thread only.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "sandbox/sys/units.h"

namespace service::e2b {

// Where a state is.
struct State {
  std::string session, node;
};

struct Context {
  std::string id;
  std::string cwd = {};  // as its client wished
  State now = {};
  unsigned executions = 0;
  // Variables of an execution that are to be as they were before, and null where they were not.
  nlohmann::json leftovers = nlohmann::json::object();
  bool settles = false;  // a step that sees to that is under way
};

struct Sandbox {
  std::string id;
  std::string secret = {};       // whoever sends code or files to it brings this
  std::string owner = {};        // whose it is: nobody else finds it
  std::string client = {};       // whom the queue and the tenants take its steps for
  std::string template_id = {};  // as its client calls it
  std::string base = {};         // zygo's template
  std::string word = {};         // that its interpreter marks what it says with (Markers)
  nlohmann::json metadata = nlohmann::json::object();
  nlohmann::json env = nlohmann::json::object();  // that its code has from its beginning
  // With nothing but its variables of the environment: where contexts begin. Of a session of its
  // own, once the first has gone.
  State first = {};
  std::vector<Context> contexts = {};  // the first is the usual one
  sys::Milliseconds began{}, ends{};   // since 1970
  bool paused = false;
  bool pauses = false;    // at the end of its life
  uint64_t deadline = 0;  // of its life

  Context& usual() { return contexts.front(); }
  Context* context(const std::string& context_id);
};

struct Snapshot {
  std::string id = {}, name = {}, owner = {}, client = {};
  std::string sandbox = {};          // that it was taken of
  std::string base = {}, word = {};  // as a sandbox has them
  nlohmann::json env = nlohmann::json::object();
  nlohmann::json leftovers = nlohmann::json::object();  // as the context has them
  State first = {}, state = {};
  sys::Milliseconds used{};  // since 1970: was begun from
};

class SandboxStore {
 public:
  struct Limits {
    size_t sandboxes = 100;        // of one client
    size_t all_sandboxes = 5'000;  // of all of them
    size_t snapshots = 100;        // of one client
    size_t all_snapshots = 1'000;
    size_t contexts = 20;  // of one sandbox
  };
  // What nobody goes on from any more: a node, or all of a session.
  struct Freed {
    std::string client;
    State state;  // no node: the session
  };

  explicit SandboxStore(Limits limits) : limits_(limits) {}

  // Why this client may not have one more; empty: it may.
  std::string why_full(const std::string& client) const;
  std::string why_full_of_snapshots(const std::string& client) const;
  const Limits& limits() const { return limits_; }

  // All states of what is added are held until it goes.
  Sandbox& add(Sandbox sandbox);
  // Null: there is none of that id.
  Sandbox* find(const std::string& id);
  // Null: this owner has none.
  Sandbox* find(const std::string& owner, const std::string& id);
  // In the order of their beginnings, the last first.
  std::vector<const Sandbox*> list(const std::string& owner) const;
  std::vector<Freed> remove(const std::string& id);

  // The context is there from now on, or in another state.
  std::vector<Freed> set(Sandbox& sandbox, Context& context, State state);
  std::vector<Freed> set_first(Sandbox& sandbox, State state);
  Context& add_context(Sandbox& sandbox, Context context);
  std::vector<Freed> remove_context(Sandbox& sandbox, const std::string& id);
  // For a while, whatever becomes of the sandbox.
  void hold(const State& state);
  std::vector<Freed> release(const std::string& client, const State& state);

  void add(Snapshot snapshot);
  // Null: this owner has none.
  Snapshot* snapshot(const std::string& owner, const std::string& id_or_name);
  std::vector<const Snapshot*> snapshots(const std::string& owner) const;
  // Nothing: this owner has none.
  std::optional<std::vector<Freed>> remove_snapshot(const std::string& owner,
                                                    const std::string& id);
  // Those that were not used since then: their states are not kept for longer.
  std::vector<Freed> remove_snapshots(sys::Milliseconds unused_since);

  size_t size() const { return sandboxes_.size(); }

 private:
  std::vector<Freed> remove_snapshot(const Snapshot& found);

  const Limits limits_;
  std::unordered_map<std::string, Sandbox> sandboxes_;
  std::map<std::string, Snapshot> snapshots_;
  std::unordered_map<std::string, size_t> of_client_, snapshots_of_client_;
  std::unordered_map<std::string, unsigned> node_uses_, session_uses_;
};

}  // namespace service::e2b
