#pragma once
// Steps: runs what is done in sandboxes as steps of their sessions. What changes a context is done
// in turn, what only looks at it at once, at the state that it has then. Where it drops or frees
// something, whoever is told of that is told on a later turn of the loop: a client that is answered
// may send what changes the sandboxes again. Loop thread only.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/loop/loop.h"
#include "service/apis/e2b/store.h"
#include "service/apis/foreign_sessions.h"

namespace service::e2b {

class Steps {
 public:
  static constexpr size_t kMostWaiting = 64;  // of one context, but for those whose clients left

  using Outcome = std::variant<ForeignSessions::Ran, ForeignSessions::Refusal>;
  using Told = std::function<void(Outcome)>;
  struct Task {
    ExchangePtr exchange;  // whose client waits for it, or it is not done; none: it is done anyway
    std::function<void(runtime::Job&)> fill;  // the session's job, made that of the step
    std::string note;  // in the place of the source in the log of the session: no E2B call reads it
    Dispatcher::Words words;
    Told told;                              // once
    std::function<void()> begun = nullptr;  // it is its turn, and it was taken
  };

  Steps(ForeignSessions& sessions, SandboxStore& store, runtime::Loop& loop, std::string_view api)
      : sessions_(sessions), store_(store), api_(api), soon_(loop, [this] { tell_late(); }) {}

  // False: too many wait already.
  bool change(const Sandbox& sandbox, const std::string& context, Task task);
  // Before those that wait.
  void change_next(const Sandbox& sandbox, const std::string& context, Task task);
  // The step that runs in the context ends, and is as if it had never begun, if it is this client
  // that waits for it.
  void withdraw(const Sandbox& sandbox, const std::string& context, const Exchange& whose);
  // Out of turn, at this state of the sandbox; nothing is left of it.
  void look(const Sandbox& sandbox, const State& at, Task task);
  // The same, but the node that it leaves is for whoever is told.
  void branch(const Sandbox& sandbox, const State& from, Task task);
  // Such a node that is not wanted.
  void take_out(const std::string& client, const std::string& node);

  // What waits for the context is told why it is not done, what runs in it is withdrawn.
  void drop(const std::string& sandbox, const std::string& context, const std::string& why);
  // The same, and what comes waits until resume() gets what this returns.
  uint64_t hold(const std::string& sandbox, const std::string& context, const std::string& why);
  // The context goes on, in this state, where it has executed nothing; null: in the one that it
  // has. False: it was dropped meanwhile.
  bool resume(const std::string& sandbox, const std::string& context, uint64_t held,
              const State* now);
  void forget(const std::vector<SandboxStore::Freed>& freed);

 private:
  using Key = std::pair<std::string, std::string>;  // a sandbox and a context of it
  struct Line {
    std::deque<Task> waiting;
    bool runs = false;
    uint64_t number = 0;  // of the step that runs
    ForeignSessions::Ticket ticket = 0;
    std::weak_ptr<Exchange> whose = {};              // step that runs
    std::shared_ptr<std::string> dropped = nullptr;  // why, once it is
  };
  // A step whose turn it was.
  struct Turn {
    uint64_t number;
    std::string client;
    std::shared_ptr<const std::string> dropped;
  };
  enum class Leaves : uint8_t { kNothing, kState };

  void advance(const Key& key);
  void end(const Key& key, const Turn& turn, const Told& told, Outcome&& outcome);
  void beside(const Sandbox& sandbox, const State& at, Leaves leaves, Task task);
  ForeignSessions::Ticket run(const std::string& client, State at, Leaves leaves, Task& task,
                              Told told);
  // Those whose clients have left.
  void sweep(Line& line);
  void tell(const Told& told, Outcome outcome);
  void tell_later(Told told, Outcome outcome);
  void tell_late();

  ForeignSessions& sessions_;
  SandboxStore& store_;
  const std::string_view api_;
  std::map<Key, Line> lines_;
  uint64_t last_ = 0;
  unsigned quiet_ = 0;  // above 0: nobody is told anything now
  std::vector<std::pair<Told, Outcome>> late_;
  runtime::Afterwards soon_;
};

}  // namespace service::e2b
