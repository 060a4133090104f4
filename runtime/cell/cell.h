#pragma once
// Cell: the daemon's handle on one cell, a slot that runs one job at a time. It is the link to the
// cell's processes: it owns all that they share with the daemon (socket, output pipes, request and
// answer memory, cgroup, seccomp listener, pidfd) and the timer. It decides nothing about states
// and time: it tells CellLife and RunClock what has happened, and does what they say. Lives on its
// shard's loop. Its states are those of a CellHandle.

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/builds/runtime_spec.h"
#include "runtime/cell/cell_ids.h"
#include "runtime/cell/handles.h"
#include "runtime/cell/memory/answer.h"
#include "runtime/cell/memory/shared_memory.h"
#include "runtime/cell/observer.h"
#include "runtime/cell/output_files.h"
#include "runtime/cell/rules/borrowed_part.h"
#include "runtime/cell/rules/cell_life.h"
#include "runtime/cell/rules/memory_account.h"
#include "runtime/cell/rules/pipe_count.h"
#include "runtime/cell/rules/run_clock.h"
#include "runtime/cell/rules/standing.h"
#include "runtime/cell/template_line.h"
#include "runtime/cell/terminate.h"
#include "runtime/host/host_trouble.h"
#include "runtime/host/proc.h"
#include "runtime/host/scratch.h"
#include "runtime/job/job.h"
#include "runtime/job/outcome.h"
#include "runtime/job/result.h"
#include "runtime/loop/helpers.h"
#include "runtime/loop/loop.h"
#include "runtime/sessions/capture.h"
#include "runtime/sessions/node_budget.h"
#include "runtime/sessions/scratch_look.h"
#include "sandbox/cgroup/cgroup.h"
#include "sandbox/notify/notify.h"
#include "sandbox/seccomp/seccomp.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "shim/protocol.h"

namespace runtime {

struct CellPlan {
  uint64_t number = 0;
  CellShape shape;
  sandbox::Layers layers;  // to put in force; the cgroup ones are added by what the group has
  CellIds ids;
  bool executes = false;    // its jobs are programs that take the place of the shim ...
  bool in_place = false;    // ... but for those that its zygote, an interpreter, runs itself
  std::string_view filter;  // compiled for shape.profile; outlives the cell
  std::string_view borrower_filter;  // for jobs that borrow memory; empty: none is to
  sandbox::FilterVariant variant;
  uint64_t most_pipes = 0;                     // of a job, where the filter counts them
  bool verifies_rollback = false;              // see EngineOptions
  std::function<void()> rollback_failed = {};  // of the memory of its jobs; it ends
  std::function<void()> holder_refused = {};   // no process was left for a job beside it; it ends
  const sandbox::CgroupRoot* cgroups = nullptr;
  const sandbox::OuterOom* outer_oom = nullptr;  // where no cgroup of the cell's own counts
  Terminator* terminator = nullptr;              // of its shard; outlives the cell
  Helpers* helpers = nullptr;                    // likewise
  Crowd* crowd = nullptr;                        // likewise
  HostTrouble* trouble = nullptr;                // of the engine; outlives the cell
  unsigned cpu = 0;                              // where its jobs run ...
  bool moves = false;                            // ... which is not where its template is
  // Without mounts; empty otherwise.
  Scratch scratch;
  sys::OwnedFd ruleset;
};

// One run of a job, as a cell sees it.
struct RunOrder {
  std::string_view request;              // encoded; outlives the run
  const Job* job = nullptr;              // limits, policy, stdin; outlives the run
  int stdin_fd = -1;                     // borrowed; the program's stdin, or -1 for none
  int stdout_fd = -1;                    // borrowed; in place of the cell's, which is captured
  int stderr_fd = -1;                    // borrowed; another description of the cell's
  LiveIo* live = nullptr;                // outlives the run; is told the output as it comes
  const RuntimeSpec* runtime = nullptr;  // of a job that is executed
  int program_fd = -1;                   // borrowed; an executable, or -1: the request names it
  bool in_place = false;                 // the request is one for a warm interpreter
  bool comes_first = false;              // before jobs of which this is not said
  bool may_stay = false;                 // a step: its process may go on as the next one
  bool stands_by = false;                // it is no step yet: only put to its node, to stay
  NodeRoom room = {};                    // of a step: for its node
  std::shared_ptr<const NodeState> state = {};  // of the node that it goes on from
};

class Cell : public CellHandle {
 public:
  using Events = CellEvents;

  // Sends an order, as TemplateLine does; what comes of it has to come on the cell's loop.
  using Orders = std::function<sys::Result<void>(const shim::CellOrder&, const std::vector<int>&,
                                                 TemplateLine::Born)>;
  // `is_ready`: the template is, so there is a limit to how long the cell may take. An error says
  // which resource is missing.
  static sys::Result<std::unique_ptr<Cell>> order(Loop& loop, const Orders& orders, bool is_ready,
                                                  CellPlan plan, Events events);
  ~Cell() override;

  State state() const override { return life_.state(); }
  const CellShape& shape() const override { return plan_.shape; }
  sandbox::Layers layers() const override { return layers_; }
  const Evidence::Fault& fault() const override { return fault_; }
  bool worn() const override { return life_.is_worn(); }
  bool is_fresh() const override { return life_.is_fresh(); }
  bool lets_stay() const override;
  void vacate() override;
  sys::Result<void> set_limits(const Limits& limits) override;
  void cancel() override;
  void signal(int number) override;
  void end(std::function<void()> gone) override;
  bool gone() const override { return gone_; }

  // The end of the program's standard error that we read.
  int stderr_pipe() const { return err_.get(); }
  // After set_limits().
  void run(const RunOrder& order);

 private:
  Cell(Loop& loop, CellPlan plan, Events events);
  sys::Result<void> make_channels();
  sys::Result<shim::CellOrder> describe() const;
  void on_born(const shim::CellBorn& born, sys::OwnedFd pidfd);
  void on_socket();
  void on_ready(const shim::CellReady& ready, std::vector<sys::OwnedFd> fds);
  void settle();
  void stop_watching();
  void on_notice();
  void on_gone();
  void on_exit();
  void on_timer();
  void record(const sandbox::Refusal& refusal);
  void abandon(int error);
  void lose(Evidence::Fault fault);

  // order.cc
  sys::Bytes most_data(const Limits& limits) const;
  sys::Result<void> send_order(bool goes_on);
  // run.cc
  RunClock::Terms terms() const;
  void begin_clock(sys::Nanoseconds now);
  void arm(sys::Nanoseconds now);
  void carry_out(RunClock::Due due, sys::Nanoseconds now);
  void check_cpu(sys::Nanoseconds now);
  void check_standing(sys::Nanoseconds now);
  void stand_back(bool back);
  sys::Nanoseconds cpu_now() const;
  uint64_t outer_oom_kills() const;
  void take_aim();
  Waiting waiting_of(const Progress& progress) const;
  Waiting waiting_of_other_side() const;
  unsigned cpus_of_job() const;
  bool waits_for_cpu(sys::Nanoseconds now);
  Slowness slowness(sys::Nanoseconds now) const;
  void begin_attention();
  void give_up();
  void on_wall_deadline(sys::Nanoseconds now);
  // The program, whether or not pid 1 has come to say so: who is left of it, if nobody lives.
  std::optional<RunClock::Left> all_ended() const;
  void kill_job();
  void see_to_the_rest();
  void note_stopped();
  void count_processes();
  // output.cc
  void drain();
  void drain_one(int fd, Output& output, sys::Bytes cap, Stream stream);
  bool keep(Output& output, std::string_view bytes, sys::Bytes cap, Stream stream);
  bool may_hold(size_t bytes);
  // watch.cc
  struct Sight;  // what the watch saw
  void watch();
  void on_watched(const Sight& seen);
  // Where the job's processes are found, by whoever asks on any thread.
  struct Household {
    int init_pid = -1, holder_pid = 0;
    Offspring offspring = Offspring::kAll;
    std::vector<int> jobs() const;
  };
  Household household() const;
  std::vector<int> family() const;                                     // the job's processes
  uint64_t our_processes() const { return holder_pid_ != 0 ? 2 : 1; }  // pid 1, and a holder
  bool is_ours(const sandbox::Notice& notice) const;
  bool is_forgiven(const std::string& call);
  bool becomes_its_program(const sandbox::Notice& notice);
  bool asks_for_tracking(const sandbox::Notice& notice);
  bool tells_of_its_node(const sandbox::Notice& notice);
  void on_tracked(std::vector<sys::OwnedFd> tracking);
  void protect_node(const sandbox::Notice& notice);
  void settle_notice(const sandbox::Notice& notice, const sandbox::Ruling& ruling);
  struct Lookout;
  struct Question;  // that takes a look at the job
  void ask_aside(const sandbox::Notice& notice);
  bool take_up_lookout();
  void ask_next();
  void on_answer(const Question& question);
  bool tells_of_unfixed_child(const sandbox::Notice& notice) const;
  std::optional<sandbox::Ruling> rule(const sandbox::Notice& notice);
  sandbox::Ruling decide(const sandbox::Notice& notice, const sandbox::Ruling& asked);
  bool has_room_for_process();
  bool has_room_for_pipe();
  int reach_error(int process) const;  // 0: it is of this job
  int signal_error(const sandbox::Notice& notice, const sandbox::SignalAsked& asked) const;
  // steps.cc
  struct Capturing;  // a step that rests is being looked at
  std::array<FileNumber, 3> streams() const;
  void on_rests(const shim::JobRests& rests);
  void on_captured(Capturing& capturing);
  void release();
  bool may_stay() const;
  void on_vacated(const shim::JobDone& done);
  bool has_output() const;
  void stop_capturing();
  // collect.cc
  void aside(Helpers::Where where, std::function<void()> work, std::function<void()> done);
  void collect_outputs_of(const Job& job);
  struct Collecting;  // what the job left is being read
  void on_held();
  void on_collected(OutputFiles files);
  void stop_collecting();
  sys::OwnedFd scratch_directory() const;
  void collect(const shim::JobDone& done);
  void measure(const shim::JobDone& done);
  void measure_memory();
  void count_refused_processes();
  void fail_rollback(bool job_ended_with_holder);
  bool memory_limit_is_far() const;
  bool measures_borrowed_part() const;
  struct Reading;  // the answer is being read
  void read_answer(bool clean);
  void on_answer_read(Reading& reading, bool clean);
  void finish(bool reusable);

  Loop& loop_;
  CellPlan plan_;
  Events events_;
  CellLife life_;
  bool gone_ = false;
  std::shared_ptr<Cell*> self_ =
      std::make_shared<Cell*>(this);  // for callbacks that may outlive us
  sandbox::Layers layers_;
  Evidence::Fault fault_;

  sandbox::CellCgroup cgroup_;
  sys::OwnedFd socket_, their_socket_, out_, err_, pidfd_, listener_, root_;
  std::array<sys::OwnedFd, 4> theirs_;  // stdout, stderr, request, filter: until the order is sent
  RequestMemory request_;
  std::shared_ptr<SharedAnswer> answer_;  // shared with who reads it beside the loop
  sandbox::CellView view_{};
  std::optional<Observer> observer_;
  MemoryAccount memory_;
  MemoryAccount::Ended ended_with_;
  BorrowedPart borrowed_part_;  // where no control group counts
  sys::Bytes inherited_data_;   // writable mappings of pid 1, which every job begins with
  std::optional<sys::Bytes> memory_limit_;  // in force
  std::optional<uint32_t> pids_limit_;

  // The running job.
  RunOrder order_;
  RunResult result_;
  RunClock clock_;
  uint64_t nonce_ = 0;
  sys::Nanoseconds sent_at_{}, cpu_base_{}, looked_at_{};
  uint64_t oom_base_ = 0, refused_base_ = 0;  // as they were when the last job had ended
  uint64_t outer_oom_base_ = 0, watched_peak_ = 0, resident_peak_ = 0;
  uint64_t tasks_allowed_ = 0, tasks_refused_ = 0, memfds_ = 0;  // where we count, not a cgroup
  PipeCount pipes_{0};
  int holder_pid_ = 0;  // of the process whose memory its jobs borrow; 0: there is none
  sys::OwnedFd holder_;
  int job_pid_ = 0;                     // of its first process; only where cells share a uid
  std::vector<HeldProcess> in_sight_;   // the job's processes, shortly before its deadline
  bool full_ = false;                   // no more may be held of what the job makes
  std::optional<Crowd::Member> among_;  // while a job runs
  bool stands_back_ = false;
  bool stays_ = false;  // the process of the step, when that is over
  // The process of a step, which may be several steps one after another.
  struct StepProcess {
    sys::Nanoseconds spent{};                      // CPU time, as the steps before
    uint64_t told_first = 0;                       // bytes of what the first was told
    RestsAs rested = {}, rests = {};               // after the step before, and after this one
    EarlierProgress came = {}, has_come = {};      // likewise
    std::shared_ptr<const sys::OwnedFd> tracking;  // of what it writes; null: nothing tells
    bool will_ask = false;                         // for that, before its program runs ...
    bool will_tell = false;                        // ... and say that its node is put back
    std::optional<sandbox::Notice> told = {};      // it has, and its JobTracked is on the way
    bool has_handed_over = false;                  // that has come
    bool is_protected = false;                     // its writes since the step before are told
  };
  StepProcess process_;
  const std::shared_ptr<std::optional<Beginning>> beginning_ =  // of each step
      std::make_shared<std::optional<Beginning>>();
  Progress aimed_at_;                             // of the job, shortly before its wall deadline
  std::optional<HostTrouble::Reading> bearings_;  // shortly after its begin
  bool executed_ = false;                         // the job's process has become its program
  uint32_t overlooked_ = 0;                       // refusals that do not decide
  std::map<std::string, uint32_t> forgiven_;      // calls that were refused, and how often
  std::shared_ptr<Collecting> collecting_;
  std::shared_ptr<Capturing> capturing_;
  std::array<FileNumber, 3> given_{};       // to a step, as its standard streams
  sandbox::Rlimits rlimits_;                // of a step
  std::shared_ptr<const Lookout> lookout_;  // once there has been a question
  std::deque<sandbox::Notice> questions_;   // the first is being answered beside the loop

  std::unique_ptr<Readable> socket_ready_, out_ready_, err_ready_, listener_ready_, exit_ready_,
      gone_ready_;
  std::unique_ptr<LateTimer> timer_;
};

}  // namespace runtime
