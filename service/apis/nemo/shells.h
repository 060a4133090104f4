#pragma once
// Shells: the interpreters that clients name by ids of their own, over the service's sessions. Each
// is its client's alone, and its cells run one after the other. A state that is not there any more
// begins anew, and the answer says so: the client then runs again what it has run there. Bounded;
// the least recently used go first. Loop thread only.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sandbox/sys/units.h"
#include "service/apis/foreign_sessions.h"
#include "service/apis/nemo/nemo.h"
#include "service/deadlines.h"

namespace service::nemo {

class Shells {
 public:
  struct Limits {
    size_t most = 10'000, most_of_client = 5'000, most_waiting = 64;
    sys::Nanoseconds idle = std::chrono::hours(1);
  };
  // The service outlives it.
  struct Parts {
    ForeignSessions& sessions;
    Deadlines& deadlines;
    const runtime::JobDefaults& defaults;
  };
  Shells(Parts parts, Limits limits) : parts_(parts), limits_(limits) {}
  ~Shells() { parts_.deadlines.forget(sweep_); }
  Shells(const Shells&) = delete;

  using Caller = ForeignSessions::Caller;
  using Answer = std::function<void(Response)>;
  // The shell of this name begins with it, if the client has none. `answer` is called once, perhaps
  // before this returns; not for a client that has left.
  void execute(Caller caller, const std::string& name, Execution cell, Answer answer);
  // False: there is none of this name for this client.
  bool end(const std::string& client, const std::string& name);

  struct Listed {
    std::string name;
    sys::Milliseconds created, used;  // since 1970
  };
  std::vector<Listed> list(const std::string& client) const;

 private:
  using Refusal = ForeignSessions::Refusal;
  struct Waiting {
    Caller caller;
    Execution cell;
    Answer answer;
    bool has_left() const { return caller.exchange && !caller.exchange->open(); }
  };
  struct Shell {
    std::string client, name;
    std::string session = {}, node = {};  // empty: there is no state
    std::deque<Waiting> waiting = {};     // the first of them runs, if it is busy
    bool is_busy = false, is_over = false;
    bool has_begun = false;  // for the cell that runs
    bool is_new = false;     // and no client that is there has been told yet
    sys::Milliseconds created{}, used_since_1970{};
    sys::Nanoseconds used{};
  };
  using ShellPtr = std::shared_ptr<Shell>;
  using Key = std::pair<std::string, std::string>;  // client and name

  void advance(const ShellPtr& shell);
  void begin(const ShellPtr& shell);
  void begun(const ShellPtr& shell, std::variant<ForeignSessions::Begun, Refusal> told);
  void run(const ShellPtr& shell);
  void ran(const ShellPtr& shell, std::variant<ForeignSessions::Ran, Refusal> told,
           std::optional<CellAnswer> answer);
  void finish(const ShellPtr& shell, Response response);
  void forget_state(Shell& shell);
  bool drop_oldest(const std::string& client);  // empty: of all clients. False: all are busy
  void touch(Shell& shell);
  void end_idle();
  void arm();

  const Parts parts_;
  const Limits limits_;
  std::map<Key, ShellPtr> shells_;
  Deadlines::Id sweep_ = 0;
  // A step may end when nobody is there for it any more.
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace service::nemo
