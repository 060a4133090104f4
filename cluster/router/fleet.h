#pragma once
// Fleet: an engine whose workers are pilots on other machines. Places each job at one of them,
// places it anew when that one is lost, and reports the first verdict. It runs nothing itself and
// makes no verdict but SandboxError (a pilot was lost too often) and Cancelled. Loop thread only.
//
// A verdict is a pilot's word: whoever has a pilot's token is believed about the jobs it was given,
// and about no others.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/router/assignments.h"
#include "cluster/router/live_input.h"
#include "cluster/router/members.h"
#include "cluster/router/pilot_link.h"
#include "cluster/wire/messages.h"
#include "runtime/engine/engine.h"
#include "runtime/loop/loop.h"

namespace cluster {

class Fleet : public runtime::Engine {
 public:
  using Pilot = Assignments::Pilot;
  struct Options {
    uint64_t seed = 0;                   // of the draws
    std::string blobs = {};              // root of the store; empty: there is none
    Standing before = {};                // what is said to be in force before a pilot is there
    std::function<void()> changed = {};  // pilots came or went, or have room again
  };
  using Member = Members::Member;

  explicit Fleet(Options options);
  ~Fleet() override;
  void join(runtime::Loop& loop);
  void close();  // before the loop ends: every job that is left is Cancelled
  void on_change(std::function<void()> changed) { options_.changed = std::move(changed); }

  // Engine
  void submit(runtime::Job job, std::function<void(runtime::JobResult)> done) override;
  void submit_pair(runtime::Job first, std::function<void(runtime::JobResult)> first_done,
                   runtime::Job second,
                   std::function<void(runtime::JobResult)> second_done) override;
  unsigned workers() const override { return members_.workers(); }
  void cancel_all() override;
  void cancel_withdrawn() override;
  void pass_signals() override;
  Standing standing() const override;
  Counts counts() const override { return members_.counts(); }

  // Pilots: what one of them says.
  Pilot enter(Hello hello, std::string address, PilotLink& link);
  void leave(Pilot pilot);
  void set_lapsed(Pilot pilot, bool lapsed);  // it is silent; it speaks again
  void set_draining(Pilot pilot);
  void set_status(Pilot pilot, const Status& status);
  void began(Pilot pilot, uint64_t number);
  void news(Pilot pilot, uint64_t number, runtime::LiveIo::Stage stage, std::string_view out,
            std::string_view err);
  void taken(Pilot pilot, uint64_t number, uint64_t bytes);
  void result(Pilot pilot, uint64_t number, bool started, runtime::JobResult result);
  void returned(Pilot pilot, uint64_t number);
  // Jobs that were withdrawn before `since`, and of which no pilot has said anything since, are
  // over.
  void forget_withdrawn(sys::Nanoseconds since);

  const std::map<Pilot, Member>& members() const { return members_.all(); }
  bool has_template(const std::string& name) const { return members_.has_template(name); }
  const Assignments& assignments() const { return assignments_; }
  uint64_t lost_pilots() const { return lost_; }

 private:
  using TaskId = Assignments::Task;
  struct Task {
    runtime::Job job;
    std::function<void(runtime::JobResult)> done;
    std::string key;       // of its template and tenant, for placement
    TaskId partner = 0;    // the other side of a conversation; 0: there is none, or it is over
    bool is_side = false;  // of one
    std::optional<sys::Nanoseconds> withdrawn;  // when its pilots were told so
    bool is_waiting = false;                    // for a pilot, in the queue
    bool has_spoken = false;                    // live: its caller has seen something of it
    std::unique_ptr<LiveInput> input;           // live, at a pilot
    uint64_t out = 0, err = 0;                  // bytes of it that were told
    bool in_conversation() const { return has_spoken || (input && input->has_sent()); }
  };

  bool fill_in(TaskId id);
  TaskId add(runtime::Job job, std::function<void(runtime::JobResult)> done);
  void place(TaskId id);
  void place_waiting();
  void place_soon();
  void start_at(TaskId id, Pilot pilot);
  void assign(TaskId id, Pilot pilot, runtime::WireWriter& out);
  void send(Pilot pilot, const runtime::WireWriter& message);
  void withdraw_at(const std::vector<Assignments::Place>& places);
  void withdraw(TaskId id, Task& task);
  void recover(const Assignments::Lost& lost);
  void give_up(TaskId id, const std::string& why);
  void conclude(TaskId id, runtime::JobResult result);
  void count(Pilot pilot);
  void tell_change();
  bool is_of(Pilot pilot, uint64_t number) const;
  Task* live_task(Pilot pilot, uint64_t number);

  Options options_;
  runtime::Loop* loop_ = nullptr;
  std::unique_ptr<runtime::Afterwards> soon_;
  Assignments assignments_;
  Members members_;
  std::unordered_map<TaskId, Task> tasks_;
  std::deque<TaskId> waiting_;  // for a pilot; some may be over by now
  TaskId last_task_ = 0;
  uint64_t lost_ = 0;  // pilots that had jobs and left
};

}  // namespace cluster
