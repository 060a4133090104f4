// Tests of a program that talks with an interactor: two runs at once, joined by pipes.

#include "runtime/judging/judge.h"
#include "runtime/judging/suite.h"
#include "runtime/judging/suite_verdicts.h"

namespace runtime {

using Side = InteractivePair::Side;

// First of all, so that no side of a pair waits in a cell for the other's compiler.
void Suite::build_both() {
  Job program = job_of({});
  program.build_only = true;
  machine_.run(std::move(program), [self = shared_from_this()](JobResult built) {
    if (!built.verdict.ok()) return self->give_up(std::move(built));
    Job interactor = self->interactor_job({});
    interactor.build_only = true;
    self->machine_.run(std::move(interactor), [self](JobResult also_built) {
      if (also_built.verdict.ok()) return self->launch();
      if (also_built.verdict.by != By::kSandbox) {
        const std::string label = also_built.verdict.label();
        also_built.verdict = {
            Outcome::kBadJob, "", By::kCaller, {{"message", "interactor: " + label}}};
      }
      self->give_up(std::move(also_built));
    });
  });
}

void Suite::converse(size_t index) {
  auto pairing = InteractivePair::create();
  if (!pairing) {
    JobResult failed;
    Evidence seen;
    seen.fault = Evidence::Fault{shim::Step::kPair, pairing.error().code(), pairing.error().text()};
    failed.verdict = judge(seen, {});
    return record(index, std::move(failed));
  }
  Job program = job_of(job_.tests[index]);
  Job interactor = interactor_job(job_.tests[index]);
  program.pairing = interactor.pairing = *pairing;
  program.stdin_bytes.clear();
  program.determinism_runs = 1;  // what it hears may differ
  interactor.side = Side::kInteractor;
  auto pair = std::make_shared<Pair>();
  pair->pairing = *pairing;
  auto heard = [self = shared_from_this(), index, pair](Side side) {
    return [self, index, pair, side](JobResult result) {
      self->on_side(index, pair, side, std::move(result));
    };
  };
  machine_.run_pair(std::move(program), heard(Side::kProgram), std::move(interactor),
                    heard(Side::kInteractor));
}

bool Suite::Pair::program_left_first() const {
  if (const auto first = pairing->first_to_leave()) return *first == Side::kProgram;
  return program->ended_at < interactor->ended_at;  // as well as that can tell
}

void Suite::on_side(size_t index, const std::shared_ptr<Pair>& pair, Side side, JobResult result) {
  {
    std::lock_guard lock(pair->mutex);
    (side == Side::kProgram ? pair->program : pair->interactor) = std::move(result);
    if (!pair->program || !pair->interactor) return;
  }
  const bool program_left_first = pair->program_left_first();
  JobResult program = std::move(*pair->program);
  program.verdict =
      judged_by_interactor(*job_.interactor, *pair->interactor, program, program_left_first);
  record_judged(index, std::move(program), *job_.interactor, "interactor",
                *std::move(pair->interactor));
}

// No test is run.
void Suite::give_up(JobResult result) {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  whole_ = std::move(result);
  JobResult all = conclude();
  lock.unlock();
  done_(std::move(all));
}

}  // namespace runtime
