#pragma once
// Task: an accepted job on its way to its one result.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/cell/handles.h"
#include "runtime/job/job.h"
#include "runtime/job/result.h"
#include "runtime/sessions/incarnation.h"
#include "sandbox/sys/units.h"

namespace runtime {

class NodeCall;
class NodeTurn;
struct NodeState;
struct RuntimeSpec;

struct Task {
  Job job;
  std::function<void(JobResult)> done;
  sys::Nanoseconds accepted_at{}, admitted_at{}, leased_at{};
  std::string request;
  bool in_place = false;            // a warm interpreter may run it: see encode_request
  bool may_borrow = true;           // its memory; see CellShape
  bool is_preloaded = true;         // fixed mode: our library can be loaded into its program
  unsigned run = 0;                 // which run of a determinism check is next
  std::optional<JobResult> first;   // of the first run
  std::unique_ptr<JobInput> input;  // of the run that is on; null where nothing is fed
  int stdin_fd = -1;                // what that run reads; borrowed
  // For a runtime that compiles: the artefact that is to be run, or, while it is being made, the
  // job that makes it.
  std::string artefact_key;
  std::shared_ptr<const Artefact> artefact;
  std::unique_ptr<Job> build;
  const RuntimeSpec* language = nullptr;  // of a command that is one of a runtime's programs
  bool compiled_here = false;             // by this task, not taken from the store
  // Runs that ended because the machine had no room, and those of them that the task had alone in
  // the pool: shortage.h.
  unsigned runs_lost = 0, lost_alone = 0;
  unsigned starts_lost = 0;  // its template or its cell was killed before it began: placement.h
  // It was judged anew so often, and the runs before took so much CPU time: retrial.h.
  unsigned reruns = 0;
  int64_t rerun_cpu_us = 0;
  // A step that has a worker has a turn, and one that waited for memory a call until then:
  // node_turns.h.
  std::shared_ptr<NodeTurn> turn;
  std::shared_ptr<NodeCall> call;
  std::shared_ptr<const NodeState> state;  // of its node; with its turn
  bool may_stay = false;                   // its process, for a step after it
  bool stands_by = false;                  // nobody's: a process is put to its node (standbys.h)
  std::optional<Visit> visit;              // to the process that its node was forked from
  std::shared_ptr<void> rerun;  // its place among those that are run again, until it has run
  // The client that it counts for among others (Shares); empty: none.
  const std::string& client() const;
  // The job that is to run next.
  const Job& current() const { return build ? *build : job; }
  CellShape shape() const { return shape_of(current(), may_borrow); }
  // Tells whether the input and output of that job are still ours to give.
  bool can_begin_anew() const;
  // Who pays for what is done twice for it: the tenant, or else the client.
  const std::string& payer() const { return job.tenant.empty() ? client() : job.tenant; }
};
using TaskPtr = std::unique_ptr<Task>;

inline const std::string& Task::client() const {
  static const std::string nobody;
  return job.watch ? job.watch->client : nobody;
}

inline bool Task::can_begin_anew() const {
  const Job& next = current();
  return !next.live && !next.pairing && !next.execution && next.stdin_fd < 0;
}

}  // namespace runtime
