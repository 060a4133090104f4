#pragma once
// Enrolment: a pilot's place with one router: dials it, says hello, runs what it sends, and gives
// back what will not begin. When the router is silent for longer than the lease, its jobs are
// withdrawn, because it starts them elsewhere. Loop thread only.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster/link/link.h"
#include "cluster/pilot/local_live.h"
#include "cluster/wire/frames.h"
#include "cluster/wire/messages.h"
#include "runtime/engine/engine.h"
#include "runtime/loop/loop.h"
#include "service/deadlines.h"
#include "service/http/allowance.h"
#include "service/observe/access_log.h"
#include "service/observe/trace_context.h"

namespace cluster {

class Enrolment : public LinkListener {
 public:
  struct House {
    runtime::Engine& engine;
    runtime::Loop& loop;
    service::Deadlines& deadlines;
    service::Allowance& held;
    std::function<Hello()> hello;
    std::function<Status()> status;  // of the whole pilot
    // A connected socket of this router, on another thread.
    std::function<sys::Result<sys::OwnedFd>()> dial;
    // Makes a link of it.
    std::function<sys::Result<std::unique_ptr<Link>>(sys::OwnedFd, LinkListener&)> link;
    std::function<bool()> has_room;                            // for one job more
    std::function<void(const runtime::JobResult&)> ended;      // a job of any router
    std::function<void(const std::string&line)> log, trouble;  // what goes well, and what does not
    std::function<void()> rested;                              // there is nothing left to do
    std::string router;                                        // its address, for people
    // A job has ended that belongs to a trace.
    std::function<void(const service::RoutedJob&)> traced = [](const service::RoutedJob&) {};
  };
  explicit Enrolment(House house);
  ~Enrolment() override;

  void start();
  void drain();  // takes nothing new, gives back what has not begun, leaves when all has ended
  bool is_busy() const { return !jobs_.empty() || (link_ && link_->unsent() > 0); }
  size_t jobs() const { return jobs_.size(); }
  void tell_runtimes(const std::string& json);

  void on_open() override;
  void on_message(std::string bytes) override;
  void on_room() override { rest(); }
  void on_over(const std::string& why) override;

 private:
  struct LocalJob {
    std::shared_ptr<runtime::JobWatch> watch;
    std::unique_ptr<LocalLive> live;
    std::optional<service::TraceContext> trace;
    sys::Nanoseconds since{};
    bool told_begun = false;
    bool withdrawn = false;  // by its router
  };
  struct Dialed;
  void dial();
  void meet(sys::OwnedFd socket);
  void try_again();
  void send(const runtime::WireWriter& message);
  void flush();
  bool handle(std::string_view frame);
  bool welcome(runtime::WireReader& in);
  bool start_jobs(Kind kind, runtime::WireReader& in);
  bool read_start(runtime::WireReader& in, StartHead& head, runtime::Job& job);
  std::string attach(const StartHead& head, runtime::Job& job);
  void run(std::vector<std::pair<StartHead, runtime::Job>> jobs, bool one_way);
  std::function<void(runtime::JobResult)> done_of(uint64_t number);
  void end(uint64_t number, const runtime::JobResult& result);
  void tell_trace(const LocalJob& job, const runtime::JobResult& result) const;
  void return_unbegun();
  void look_who_began();
  void withdraw(uint64_t number);
  void beat();
  void rest();
  void drop_jobs();

  const House house_;
  std::unique_ptr<Link> link_;
  FrameWriter waiting_;
  runtime::Afterwards soon_;
  runtime::Timer again_, begun_look_;
  service::Deadlines::Id beat_ = 0;
  sys::Nanoseconds heard_{};
  sys::Milliseconds lease_{10'000}, pause_{0};
  std::unordered_map<uint64_t, LocalJob> jobs_;
  std::string runtimes_;
  std::mt19937_64 random_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  uint64_t connection_ = 0;            // counts them
  uint16_t version_ = kOldestVersion;  // that is spoken on it
  bool joined_ = false, draining_ = false, dialing_ = false;
};

}  // namespace cluster
