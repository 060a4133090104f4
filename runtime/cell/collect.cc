// The end of a cell's job: its files, its output, what it used, and what the cell is fit for then.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "runtime/cell/cell.h"
#include "runtime/host/host_pressure.h"
#include "runtime/host/proc.h"
#include "runtime/job/micros.h"
#include "runtime/values/value.h"
#include "sandbox/sys/socket.h"

namespace runtime {

using sandbox::Layer;
using sys::Nanoseconds;

namespace {

constexpr uint64_t kPageBytes = 4096;              // x86-64, which this is for
constexpr size_t kShortAnswer = size_t{64} << 10;  // is read before another thread would have begun
// Collecting may take as much CPU time as the job itself, and this much in any case.
constexpr std::chrono::seconds kCollectAtLeast{1};

// The counter of a group moves for every process of it that is killed, also when the limit that was
// hit is an ancestor's. A kill for its own limit comes when the next charge, of 2 MiB at most, does
// not fit.
bool is_far_below(sys::Bytes peak, sys::Bytes limit) {
  return peak.count < limit.count - std::min<uint64_t>(limit.count / 4, uint64_t{8} << 20);
}

}  // namespace

// `work` on another thread, and then `done` here, if the run that it belongs to still goes on.
void Cell::aside(Helpers::Where where, std::function<void()> work, std::function<void()> done) {
  plan_.helpers->run(where, std::move(work),
                     [weak = std::weak_ptr(self_), nonce = nonce_, done = std::move(done)] {
                       auto alive = weak.lock();
                       if (alive && (*alive)->life_.heeds((*alive)->nonce_ == nonce)) done();
                     });
}

struct Cell::Collecting {
  sys::OwnedFd directory;
  std::vector<std::string> globs;
  OutputFilesBudget budget;
  std::optional<uint32_t> owner;
  std::atomic<bool> stop{false};
  OutputFiles files;
};

// No process of the job is left. The files that it wanted to keep are read before pid 1 wipes the
// scratch; nobody can say how long that takes, so it is done beside the loop.
void Cell::on_held() {
  clock_.hold();
  stand_back(false);
  collect_outputs_of(*order_.job);
}

void Cell::collect_outputs_of(const Job& job) {
  auto errand = std::make_shared<Collecting>();
  errand->directory = scratch_directory();
  if (!errand->directory) return on_collected({.files = {}, .refused = {}, .lack = errno});
  errand->globs = job.outputs;
  errand->budget = {.bytes = job.limits.outputs,
                    .cpu = std::max<Nanoseconds>(job.limits.cpu, kCollectAtLeast),
                    .stop = &errand->stop};
  errand->owner = plan_.ids.owner;
  collecting_ = errand;
  aside(
      Helpers::Where::kAnywhere,
      [errand] {
        errand->files =
            collect_outputs(errand->directory.get(), errand->globs, errand->budget, errand->owner);
      },
      [this, errand] {
        collecting_.reset();
        on_collected(std::move(errand->files));
      });
}

void Cell::on_collected(OutputFiles files) {
  const size_t bytes =
      std::accumulate(files.files.begin(), files.files.end(), size_t{0},
                      [](size_t sum, const InputFile& file) { return sum + file.content.size(); });
  if (!may_hold(bytes)) files.files.clear();
  result_.files = std::move(files);
  if (const int lack = result_.files.lack; lack != 0) {
    result_.evidence.fault =
        Evidence::Fault{shim::Step::kCollect, lack,
                        "the files of the job could not be read, for want of means of our own"};
  }
  release();
}

// Nobody wants the files any more.
void Cell::stop_collecting() {
  if (collecting_) collecting_->stop = true;
  stop_capturing();
}

// The root was opened by pid 1, so that its mounts count.
sys::OwnedFd Cell::scratch_directory() const {
  if (plan_.scratch) return sys::OwnedFd(::fcntl(plan_.scratch.fd(), F_DUPFD_CLOEXEC, 0));
  return sys::OwnedFd(::openat(root_.get(), "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

void Cell::collect(const shim::JobDone& done) {
  stays_ = done.stays != 0;
  process_.spent += Nanoseconds(done.cpu_ns);
  timer_->stop();
  among_.reset();
  stand_back(false);
  if (out_ready_->active()) {
    out_ready_->stop();
    err_ready_->stop();
  }
  if (listener_ready_) on_notice();  // a refusal that was read too late to be seen by the loop
  Evidence& seen = result_.evidence;
  if (done.failure.error != 0) {
    const bool is_of_node = done.failure.step == shim::Step::kRestore;
    seen.fault = Evidence::Fault{
        done.failure.step, done.failure.error,
        is_of_node ? "what its node has could not be put back within the limits of the step"
                   : "the sandbox of the job could not be completed"};
  }
  seen.exit = {done.signalled != 0, done.code};
  const bool was_killed = !clock_.is_doomed() && done.signalled != 0 && done.code == SIGKILL;
  if (was_killed && !seen.fault && outer_oom_kills() > outer_oom_base_)
    seen.fault = outer_memory_is_full();
  result_.ran = done.confined_at_ns != 0;
  clock_.end();
  drain();
  measure(done);
  // The kernel ends the holder with a job that it ends for want of memory.
  if (done.rollback >= shim::Rollback::kFailed && seen.oom_kills == 0)
    fail_rollback(was_killed && done.rollback == shim::Rollback::kLost);
  if (holder_ && done.failure.step == shim::Step::kFork && plan_.holder_refused)
    plan_.holder_refused();
  if (observer_) result_.observed = observer_->take();
  read_answer(done.clean != 0);
}

// A job that was ended with the holder of its memory was not ended by what it did.
void Cell::fail_rollback(bool job_ended_with_holder) {
  if (plan_.rollback_failed) plan_.rollback_failed();
  Evidence& seen = result_.evidence;
  if (!job_ended_with_holder || seen.deadline != DeadlineKind::kNone || seen.fault) return;
  seen.fault = Evidence::Fault{shim::Step::kRollback, ESRCH,
                               "the process that holds the memory of the job has ended"};
}

struct Cell::Reading {
  std::shared_ptr<SharedAnswer> answer;
  uint64_t nonce;
  size_t most;
  bool call_mode, is_step, may_hold;
  Testimony testimony{};
  bool cleared = false;

  void run() {
    std::optional<SharedAnswer::Answer> said;
    if (may_hold) said = answer->take(nonce, most);
    testimony.call_mode = call_mode;
    if (said) {
      testimony = is_step && !call_mode ? decode_answer_of_step(said->kind, said->payload)
                                        : decode_answer(said->kind, said->payload, call_mode);
    }
    cleared = answer->clear();
  }
};

// A long one beside the loop, like all that is of a job's making.
void Cell::read_answer(bool clean) {
  const Job& job = *order_.job;
  // The answer's own word for its length is not believed beyond this.
  const size_t most = job.limits.value.count;
  const size_t bytes = std::min(answer_->size(), most);
  auto reading = std::make_shared<Reading>(
      Reading{.answer = answer_,
              .nonce = nonce_,
              .most = most,
              .call_mode = job.mode == shim::Mode::kCall,
              .is_step = job.is_step(),
              .may_hold = may_hold(2 * bytes)});  // as it was written, and decoded
  if (bytes <= kShortAnswer) {
    reading->run();
    return on_answer_read(*reading, clean);
  }
  aside(
      Helpers::Where::kAnywhere, [reading] { reading->run(); },
      [this, reading, clean] { on_answer_read(*reading, clean); });
}

void Cell::on_answer_read(Reading& reading, bool clean) {
  result_.testimony = std::move(reading.testimony);
  const bool cleared = request_.clear() && reading.cleared;
  measure_memory();
  life_.judge({.clean = clean, .oom_kills = result_.evidence.oom_kills, .memory = memory_.left()});
  finish(clean && cleared);
}

void Cell::measure(const shim::JobDone& done) {
  const Limits& limits = order_.job->limits;
  Evidence& seen = result_.evidence;
  Nanoseconds begin = done.forked_at_ns ? Nanoseconds(done.forked_at_ns) : clock_.started_at();
  Nanoseconds end = done.ended_at_ns ? Nanoseconds(done.ended_at_ns) : sys::monotonic_now();
  end = std::min(end, clock_.ended_by());  // when pid 1 came to reap it is pid 1's time
  Nanoseconds confined = done.confined_at_ns ? Nanoseconds(done.confined_at_ns) : end;
  // The kernel has not told yet what children of a process that stays have used.
  if (stays_ && plan_.shape.runs_programs())
    result_.usage.cpu_us = std::max(result_.usage.cpu_us, micros(cpu_now() - cpu_base_));
  result_.usage.cpu_us =
      std::max(result_.usage.cpu_us, done.cpu_ns / 1000 + micros(clock_.looked_for()));
  // Its start is known by ticks only where the kernel took long to fork it.
  result_.usage.wall_us = std::max<int64_t>(0, micros(end - clock_.started_at()));
  if (done.had_company) result_.usage.pids_peak = std::max(result_.usage.pids_peak, uint32_t{2});
  result_.usage.max_rss_kb = done.max_rss_kb;
  const int64_t voluntary = stays_ ? process_.rests.switches_voluntary : done.switches_voluntary;
  const int64_t forced = stays_ ? process_.rests.switches_forced : done.switches_forced;
  result_.usage.switches_voluntary = voluntary - process_.rested.switches_voluntary;
  result_.usage.switches_forced = forced - process_.rested.switches_forced;
  result_.ended_at = end;
  result_.usage.contended = seen.contended;
  const uint64_t kills = cgroup_.oom_kills().value_or(oom_base_);
  seen.oom_kills = static_cast<uint32_t>(kills - std::exchange(oom_base_, kills));
  if (seen.oom_kills > 0 && memory_limit_is_far()) {
    seen.oom_kills = 0;
    if (!seen.fault) seen.fault = outer_memory_is_full();
  }
  count_refused_processes();
  seen.disk_full |= done.blocks_full != 0 || done.inodes_full != 0;
  seen.inodes_full |= done.inodes_full != 0;
  if (plan_.scratch) seen.disk_watch = seen.disk_full;
  // The kernel's second fence may come first by a tick; the reason is the same.
  if (seen.deadline == DeadlineKind::kNone && seen.exit.signalled &&
      done.cpu_ns >= Nanoseconds(limits.cpu).count() &&
      (seen.exit.code == SIGKILL || seen.exit.code == SIGXCPU)) {
    seen.deadline = DeadlineKind::kCpu;
  }
  seen.ended_late =
      !order_.job->pairing && seen.deadline == DeadlineKind::kNone && clock_.is_over_by_far(end);
  seen.wall_ms = result_.usage.wall_us / 1000;
  // Its first process may have left others behind long before they met their deadline.
  if (seen.deadline == DeadlineKind::kWall)
    seen.wall_ms = std::max(seen.wall_ms, result_.usage.stopped_us.value_or(0) / 1000);
  seen.cpu_ms = result_.usage.cpu_us / 1000;
  result_.evidence.limits = order_.job->limits;
  result_.timing.fork = micros(begin - sent_at_);
  result_.timing.confine = micros(confined - begin);
  result_.timing.run = micros(end - confined);
  result_.timing.collect = micros(sys::monotonic_now() - end);
  if (done.rollback != shim::Rollback::kNone) result_.timing.rollback = done.rollback_ns / 1000;
  resident_peak_ = static_cast<uint64_t>(done.max_rss_kb) * 1024;
  if (measures_borrowed_part()) {
    resident_peak_ = borrowed_part_
                         .of_peak({resident_peak_}, residence_of(holder_pid_),
                                  {done.unused_warm_pages * kPageBytes})
                         .count;
  }
  ended_with_ = {.unused_warm = {done.unused_warm_pages * kPageBytes},
                 .warm = {done.warm_pages * kPageBytes}};
}

// After all that zygo itself had to do for the job.
void Cell::measure_memory() {
  sys::Bytes own{std::max(watched_peak_, resident_peak_)};
  if (const std::optional<sys::Bytes> peak = cgroup_.peak()) {
    ended_with_.peak = *peak;
    ended_with_.used = cgroup_.usage().value_or(sys::Bytes{0});
    own = stays_ ? memory_.at_most(*peak) : memory_.close(ended_with_);
  }
  own = std::min(own, order_.job->limits.memory);
  result_.usage.memory_peak_bytes = static_cast<int64_t>(own.count);
  result_.evidence.memory_peak_bytes = result_.usage.memory_peak_bytes;
}

bool Cell::measures_borrowed_part() const {
  return holder_pid_ != 0 && !layers_.has(Layer::kCgroupMemory);
}

bool Cell::memory_limit_is_far() const {
  const std::optional<sys::Bytes> peak = cgroup_.peak();
  return peak && is_far_below(memory_.at_most(*peak), order_.job->limits.memory);
}

// The counter of a group moves for every fork in it that is refused, also when the limit that was
// hit is an ancestor's.
void Cell::count_refused_processes() {
  Evidence& seen = result_.evidence;
  const uint64_t counted = cgroup_.pids_refused().value_or(refused_base_);
  const uint64_t refused = counted - std::exchange(refused_base_, counted);
  seen.pids_refused = static_cast<uint32_t>(refused + tasks_refused_);
  if (refused == 0) return;
  life_.wear_out();  // the group's peak would speak of this job for ever
  if (tasks_refused_ > 0 ||
      cgroup_.reached_pids_limit(order_.job->limits.pids + our_processes()).value_or(true))
    return;
  seen.pids_refused = 0;
  if (!seen.fault) seen.fault = outer_processes_are_used_up();
}

void Cell::finish(bool reusable) {
  life_.finish_run(reusable);
  if (stays_) {
    life_.stay();
    process_.rested = process_.rests;
    process_.came = process_.has_come;
  } else {
    process_.tracking.reset();
  }
  if (const auto& pairing = order_.job->pairing) pairing->end(order_.job->side);
  RunResult result = std::move(result_);
  result_ = {};
  order_ = {};
  in_sight_.clear();
  questions_.clear();
  stop_collecting();
  collecting_.reset();
  capturing_.reset();
  events_.finished(std::move(result));
}

}  // namespace runtime
