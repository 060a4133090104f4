#pragma once
// Cell: the daemon's handle on one cell, a slot that runs one job at a time. It owns all that the
// cell shares with the daemon (socket, output pipes, request and answer memory, cgroup, seccomp
// listener, pidfd) and keeps the clock of the running job. Lives on its shard's loop. States:
//
//   starting -> idle <-> running -> ... -> dead
//
// A cell that is not provably clean after a job, or that lost its pid 1, is never idle again.

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/answer.h"
#include "runtime/job.h"
#include "runtime/loop/loop.h"
#include "runtime/outcome.h"
#include "runtime/result.h"
#include "runtime/zygote.h"
#include "sandbox/cgroup.h"
#include "sandbox/notify.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "shim/protocol.h"

namespace runtime {

// What a cell is made for. Jobs that agree in these can share it, one after another.
struct CellShape {
  sandbox::Profile profile = sandbox::Profile::kDefault;
  sys::Bytes disk;
  uint32_t files = 0;
  sys::Bytes value;
  auto operator<=>(const CellShape&) const = default;
};

struct CellPlan {
  uint64_t number = 0;
  CellShape shape;
  sandbox::Layers layers;      // to put in force; the cgroup ones are added by what the group has
  uint32_t outer_init_id = 0;  // see shim/protocol.h
  uint32_t outer_job_id = 0;
  std::string_view filter;  // compiled for shape.profile; outlives the cell
  const sandbox::CgroupRoot* cgroups = nullptr;
};

// One run of a job, as a cell sees it.
struct RunOrder {
  std::string_view request;  // encoded; outlives the run
  const Job* job = nullptr;  // limits, policy, stdin; outlives the run
  int stdin_fd = -1;         // borrowed; the program's stdin, or -1 for none
};

struct RunResult {
  Evidence evidence;
  Testimony testimony;
  bool ran = false;  // the program was reached; exit is meaningful
  Output out, err;
  Usage usage;
  Timing timing;
};

class Cell {
 public:
  enum class State { kStarting, kIdle, kRunning, kDead };
  struct Events {
    std::function<void()> ready;
    std::function<void(RunResult)> finished;  // then idle() tells whether it may serve again
    std::function<void()> dead;               // outside of a run; the owner drops the cell
  };

  // Orders the cell from `zygote` (ready). An error says which resource is missing.
  static sys::Result<std::unique_ptr<Cell>> order(Loop& loop, Zygote& zygote, const CellPlan& plan,
                                                  Events events);
  ~Cell();

  State state() const { return state_; }
  const CellShape& shape() const { return plan_.shape; }
  sandbox::Layers layers() const { return layers_; }
  // Why a cell died outside of a run.
  const Evidence::Fault& fault() const { return fault_; }
  // Renewal is due: too many jobs, a violation, memory left behind.
  bool worn() const { return worn_; }

  // Ends the cell for good; `gone` is called once its processes are no more (perhaps at once).
  void end(std::function<void()> gone);
  bool gone() const { return gone_; }

  void run(const RunOrder& order);
  void cancel();  // of the running job: it ends as Cancelled

 private:
  Cell(Loop& loop, const CellPlan& plan, Events events);
  sys::Result<void> make_channels();
  sys::Result<shim::CellOrder> describe() const;
  void on_born(const shim::CellBorn& born, sys::OwnedFd pidfd);
  void on_socket();
  void on_ready(const shim::CellReady& ready, std::vector<sys::OwnedFd> fds);
  void settle();
  void stop_watching();
  void on_notice();
  void on_exit();
  void on_timer();
  void record(const sandbox::Refusal& refusal);

  sys::Result<void> send_order();
  void set_limits(const Limits& limits);
  void begin_clock(sys::Nanoseconds now);
  void arm(sys::Nanoseconds now);
  void check_cpu(sys::Nanoseconds now);
  void check_memory(sys::Nanoseconds now);
  void kill_job();
  void count_processes();
  void drain();
  void drain_one(int fd, Output& output, sys::Bytes cap, Stream stream);
  void collect(const shim::JobDone& done);
  void measure(const shim::JobDone& done);
  void note_limits();
  Testimony take_answer();
  void finish(bool reusable);
  void lose(Evidence::Fault fault);
  bool starved() const;
  sys::Nanoseconds cpu_now() const;

  Loop& loop_;
  CellPlan plan_;
  Events events_;
  State state_ = State::kStarting;
  bool worn_ = false;
  bool gone_ = false;
  std::shared_ptr<Cell*> self_ =
      std::make_shared<Cell*>(this);  // for callbacks that may outlive us
  sandbox::Layers layers_;
  Evidence::Fault fault_;
  uint64_t jobs_ = 0;

  sandbox::CellCgroup cgroup_;
  sys::OwnedFd socket_, their_socket_, out_, err_, request_, answer_fd_, pidfd_, listener_, root_;
  std::array<sys::OwnedFd, 4> theirs_;  // stdout, stderr, request, filter: until the order is sent
  SharedAnswer answer_;
  sandbox::CellView view_{};
  sys::Bytes base_memory_;
  std::optional<Limits> limits_in_force_;

  // Of the running job.
  RunOrder order_;
  RunResult result_;
  uint64_t nonce_ = 0;
  sys::Nanoseconds sent_at_{}, started_at_{}, wall_deadline_{}, next_cpu_check_{},
      next_memory_check_{}, attention_at_{}, patience_until_{};
  sys::Nanoseconds cpu_base_{};
  uint64_t oom_base_ = 0, refused_base_ = 0, watched_peak_ = 0;
  bool killed_ = false;
  bool forking_ = false;  // pid 1 was allowed to fork the job

  std::unique_ptr<Readable> socket_ready_, out_ready_, err_ready_, listener_ready_, exit_ready_,
      gone_ready_;
  std::unique_ptr<Timer> timer_;
};

}  // namespace runtime
