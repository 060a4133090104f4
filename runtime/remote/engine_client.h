#pragma once
// EngineClient: the engine of a process that has no rights, which is another process at the other
// end of a channel. Jobs are submitted, and results come, on the thread of the loop that it joins.
// When the other end is gone there is nobody to serve for, and the process ends.

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/job/live_io.h"
#include "runtime/loop/loop.h"
#include "runtime/remote/channel.h"
#include "runtime/remote/protocol.h"

namespace runtime {

class EngineClient : public Engine {
 public:
  // Waits for the engine's first word.
  static sys::Result<std::unique_ptr<EngineClient>> connect(sys::OwnedFd socket);
  ~EngineClient() override;

  struct Orders {
    std::function<void()> stop, reload;
  };
  // From here on results come, and what the engine wants is called, both on the loop. The loop must
  // live until leave().
  void join(Loop& loop, Orders orders);
  // Whoever waits in ask() hears that the service ends; nothing comes any more.
  void leave();

  // Engine
  void submit(Job job, std::function<void(JobResult)> done) override;
  void submit_pair(Job first, std::function<void(JobResult)> first_done, Job second,
                   std::function<void(JobResult)> second_done) override;
  unsigned workers() const override { return workers_; }
  void cancel_all() override;
  void cancel_withdrawn() override;
  void pass_signals() override;
  bool keeps_nodes() const override { return true; }
  void forget_nodes(const std::string& tenant, const std::vector<std::string>& ids) override;
  // Any thread but the loop's; what could not be asked is said to be there.
  std::vector<std::string> why_gone(const std::string& tenant,
                                    const std::vector<std::string>& ids) override;
  Standing standing() const override { return standing_; }
  Counts counts() const override { return counts_; }

  // Blocks until the engine's process has answered; any thread but the loop's.
  sys::Result<Answer> ask(Question question);
  // The same: a connection to the operator's address of this index, that the engine's process has
  // made, because this one may make none.
  sys::Result<sys::OwnedFd> dial(uint32_t index);
  void tell(ServiceState state);

 private:
  struct Remote {
    std::function<void(JobResult)> done;
    std::shared_ptr<JobWatch> watch;
    std::shared_ptr<LiveIo> live;
    uint32_t seat = kNoSeat;
    std::string id, tag;
    bool sent = false, withdrawn = false;  // told so
  };
  struct Seat {
    uint32_t number = kNoSeat;
    unsigned users = 0;
  };
  // A message that is made aside, and the jobs whose it is.
  struct Draft;

  EngineClient(std::unique_ptr<Channel> channel, const Hello& hello,
               std::shared_ptr<const std::atomic<bool>> board);

  uint64_t add(const Job& job, std::function<void(JobResult)> done);
  JobHead head_of(uint64_t number, const Job& job) const;
  void take_seat(Remote& remote);
  void leave_seat(const Remote& remote);
  void post(Draft draft);
  void post_packed(Draft& draft);
  void withdraw(uint64_t number, Remote& remote);
  void send(Packet packet);
  void send(WireWriter message);
  void receive();
  void handle(Channel::Message message);
  void take_news(uint64_t number, WireReader& in);
  void take_result(uint64_t number, WireReader& in);
  void read_aside(uint64_t number, Channel::Message message);
  void deliver(uint64_t number, bool started, JobResult result);
  struct Reply {
    Answer answer;
    std::vector<sys::OwnedFd> fds;
  };
  // What is asked beside the question itself.
  struct Matter {
    uint32_t index = 0;
    NodeNames nodes = {};
  };
  sys::Result<Reply> put(Question question, const Matter& matter);
  void answer(uint64_t number, Reply reply);

  const std::unique_ptr<Channel> channel_;
  const unsigned workers_;
  const Standing standing_;
  const std::shared_ptr<const std::atomic<bool>> board_;
  Counts counts_;
  Loop* loop_ = nullptr;
  Orders orders_;
  std::unique_ptr<SocketWatch> watch_;
  std::unique_ptr<Wakeup> wakeup_;
  std::unordered_map<uint64_t, Remote> remote_;
  std::unordered_map<const JobWatch*, Seat> seats_;
  std::vector<uint32_t> free_seats_;
  uint64_t last_ = 0;
  std::mutex questions_mutex_;
  std::unordered_map<uint64_t, std::promise<sys::Result<Reply>>> questions_;
  uint64_t last_question_ = 0;
  bool left_ = false;
};

}  // namespace runtime
