#pragma once
// EngineHost: serves an engine to one front, the process at the other end of a channel that may be
// somebody else's by now. Runs what the front submits, and sends what comes of it. Belongs to the
// thread of its loop; results are sent from the engine's threads.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/loop/loop.h"
#include "runtime/remote/channel.h"
#include "runtime/remote/protocol.h"

namespace runtime {

struct EngineDesk;
struct SubmittedJob;

class EngineHost {
 public:
  struct Options {
    // Makes the counter of the output of a client's jobs while they run; none: nothing counts it.
    std::function<std::shared_ptr<Holding>(const std::string& client)> holding_for = {};
    // Why there is no such job, empty: there is. May put it in order.
    std::function<std::string(Job&)> objection;
    std::function<sys::Result<Answer>(Question)> answer;  // aside; all but kDial
    // Connects to one of the operator's addresses, aside; none: there is nothing to dial. The index
    // is the front's: it may name no address.
    std::function<sys::Result<sys::OwnedFd>(uint32_t index)> dial = {};
    // Does the first on another thread and then the second in the loop, perhaps when the host is
    // no more. False: there is no room for a thread, and neither is done.
    std::function<bool(std::function<void()>, std::function<void()>)> aside;
    std::function<void(ServiceState)> tell;
    // Nothing comes of the other end any more: it has said what no front says, and is to be ended;
    // or it is gone, and `breach` is empty.
    std::function<void(const std::string& breach)> over;
  };
  // An error: no room for the board.
  static sys::Result<std::unique_ptr<EngineHost>> start(Engine& engine, Loop& loop,
                                                        sys::OwnedFd socket, Options options);
  // Withdraws its jobs.
  ~EngineHost();

  void stop();    // asks the front to take nothing new, and to end when all is answered
  void reload();  // asks it to ask for the configuration

 private:
  EngineHost(Engine& engine, Loop& loop, std::shared_ptr<EngineDesk> desk, Options options);
  void greet(sys::OwnedFd board);
  void receive();
  void handle(Channel::Message message);
  void take_jobs(Channel::Message message);
  void submit(std::vector<SubmittedJob> jobs, bool one_way);
  void submit_pair(std::vector<SubmittedJob> jobs, bool one_way);
  bool admit(const SubmittedJob& submitted);
  void signal(uint64_t number, int signal);
  void withdraw(uint64_t number);
  struct Reply {
    Answer answer;
    std::vector<sys::OwnedFd> fds;
  };
  // What stands behind the number of a message that brings no jobs.
  struct Said {
    int32_t signal = 0;
    Question question{};
    uint32_t index = 0;  // of an address
    NodeNames nodes;
    ServiceState state{};
    bool read(MessageKind kind, WireReader& in);
  };
  void obey(MessageKind kind, uint64_t number, const Said& said);
  void take_question(uint64_t number, const Said& asked);
  std::string look_for(const NodeNames& nodes) const;
  void send_answer(uint64_t number, sys::Result<Reply> found);
  void work();
  void tell_counts();
  void watch_for_room();
  void break_off(const std::string& breach);

  Engine& engine_;
  const std::shared_ptr<EngineDesk> desk_;
  const Options options_;
  unsigned questions_ = 0;
  Engine::Counts told_;
  bool over_ = false;
  Wakeup wakeup_;
  Timer counts_due_;
  std::unique_ptr<SocketWatch> watch_;
};

}  // namespace runtime
