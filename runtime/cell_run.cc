// A cell's path through one job: order, clock, notices, output, collection.

#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/cell.h"
#include "runtime/proc.h"
#include "runtime/value.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/socket.h"

namespace runtime {

using sandbox::Layer;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using sys::Error;
using sys::Nanoseconds;
using sys::Result;

namespace {

constexpr uint64_t kJobsPerCell = 10000;
constexpr sys::Bytes kMemoryLeftBehind =
    sys::mebibytes(24);  // page cache and slab; above it, renew
// Output is not watched in the first moments of a job: most jobs end before, and are drained then.
constexpr Nanoseconds kAttention = milliseconds(2);
// After a kill the cell must be empty within this, or it is destroyed.
constexpr Nanoseconds kPatience = std::chrono::seconds(2);
// What an interpreter with its modules holds of private writable memory before the job begins;
// added to RLIMIT_DATA, which counts it.
constexpr sys::Bytes kImageData = sys::mebibytes(96);
// A program that goes on after so many refused calls is killed: it only burns the supervisor's
// time.
constexpr uint32_t kMostRefusals = 1000;
// Of one cell in one turn of the loop; the others wait meanwhile.
constexpr int kNoticesPerTurn = 64;
// The memory watch, where no cgroup counts: how often it looks at least and at most.
constexpr Nanoseconds kMemoryWatch = milliseconds(10), kMemoryWatchSlowest = milliseconds(200);
constexpr Nanoseconds kNever = Nanoseconds::max();

uint64_t random_nonce() {
  uint64_t value = 0;
  while (value == 0) VERIFY(::getrandom(&value, sizeof value, 0) == sizeof value);
  return value;
}

int64_t micros(Nanoseconds t) { return duration_cast<std::chrono::microseconds>(t).count(); }

}  // namespace

void Cell::run(const RunOrder& order) {
  VERIFY(state_ == State::kIdle);
  state_ = State::kRunning;
  ++jobs_;
  order_ = order;
  result_ = {};
  killed_ = false;
  forking_ = false;
  watched_peak_ = 0;
  patience_until_ = kNever;
  nonce_ = random_nonce();
  set_limits(order.job->limits);
  oom_base_ = cgroup_.oom_kills().value_or(0);
  refused_base_ = cgroup_.pids_refused().value_or(0);
  cgroup_.reset_peak();
  sent_at_ = sys::monotonic_now();
  Result<void> sent = send_order();
  if (!sent) return lose({"send order", sent.error().code(), sent.error().text()});
  begin_clock(sent_at_);
}

Result<void> Cell::send_order() {
  const Limits& limits = order_.job->limits;
  ssize_t n = ::pwrite(request_.get(), order_.request.data(), order_.request.size(), 0);
  if (n != static_cast<ssize_t>(order_.request.size())) return Error::from_errno("write request");
  shim::JobOrder order;
  order.has_stdin = order_.stdin_fd >= 0;
  order.nonce = nonce_;
  order.request_bytes = order_.request.size();
  order.value_bytes = limits.value.count;
  order.rlimits.open_files = limits.open_files;
  order.rlimits.cpu_seconds = static_cast<uint64_t>(limits.cpu.count()) / 1000 + 2;
  // Where no cgroup counts, the second fence is the first.
  if (!layers_.has(Layer::kCgroupPids)) {
    order.rlimits.processes =
        limits.pids + (layers_.has(Layer::kUid) ? 0 : 1);  // pid 1 has the same uid
  }
  if (!layers_.has(Layer::kCgroupMemory)) {
    order.rlimits.data = sys::Bytes{limits.memory.count + kImageData.count};
    // Files in memory, of the scratch or by memfd_create, are bounded one by one at least.
    order.rlimits.file_size = sys::Bytes{std::min(limits.memory.count, limits.disk.count)};
  }
  if (order_.stdin_fd < 0) return sys::send_message(socket_.get(), sys::bytes_of(order));
  int fds[1] = {order_.stdin_fd};
  return sys::send_message(socket_.get(), sys::bytes_of(order), fds);
}

void Cell::set_limits(const Limits& limits) {
  bool known = limits_in_force_.has_value();
  // Both are best effort here: a limit that cannot be set shows as a layer that is not in force.
  if (layers_.has(Layer::kCgroupMemory) && (!known || limits_in_force_->memory != limits.memory)) {
    (void)cgroup_.set_memory_limit({base_memory_.count + limits.memory.count});
  }
  if (layers_.has(Layer::kCgroupPids) && (!known || limits_in_force_->pids != limits.pids)) {
    (void)cgroup_.set_pids_limit(limits.pids + 1);
  }
  limits_in_force_ = limits;
}

Nanoseconds Cell::cpu_now() const { return cgroup_.cpu_usage().value_or(Nanoseconds(0)); }

void Cell::begin_clock(Nanoseconds now) {
  started_at_ = now;
  wall_deadline_ = now + order_.job->limits.wall;
  attention_at_ = now + kAttention;
  cpu_base_ = cpu_now();
  next_cpu_check_ = now + order_.job->limits.cpu;
  bool watched = !layers_.has(Layer::kCgroupMemory) && layers_.has(Layer::kRlimits);
  next_memory_check_ = watched ? now + kMemoryWatch : kNever;
  arm(now);
}

void Cell::arm(Nanoseconds now) {
  Nanoseconds next = std::min(
      {attention_at_, wall_deadline_, next_cpu_check_, next_memory_check_, patience_until_});
  timer_->start(next - now);
}

void Cell::on_timer() {
  if (state_ == State::kStarting)
    return lose({"cell", ETIME, "the cell was not ready within the time allowed"});
  if (state_ != State::kRunning) return;
  Nanoseconds now = sys::monotonic_now();
  if (now >= attention_at_) {
    attention_at_ = kNever;
    count_processes();
    out_ready_->start();
    err_ready_->start();
  }
  if (now >= patience_until_) {
    kill_by_pidfd(pidfd_.get());
    return lose({"kill", ETIME, "the job did not die within the time allowed"});
  }
  if (now >= next_memory_check_) check_memory(now);
  if (now >= next_cpu_check_) check_cpu(now);
  if (now >= wall_deadline_) {
    wall_deadline_ = kNever;
    if (!killed_) {
      result_.evidence.deadline = DeadlineKind::kWall;
      result_.evidence.contended = starved();
      kill_job();
    }
  }
  if (state_ == State::kRunning) arm(now);
}

// One CPU second takes at least one second: the next look is due when the rest could be used up.
void Cell::check_cpu(Nanoseconds now) {
  Nanoseconds limit = order_.job->limits.cpu;
  Nanoseconds used =
      layers_.has(Layer::kCgroupCpu) ? cpu_now() - cpu_base_ : cpu_of_descendants(view_.init_pid);
  if (killed_) {
    next_cpu_check_ = kNever;
  } else if (used >= limit) {
    next_cpu_check_ = kNever;
    result_.evidence.deadline = DeadlineKind::kCpu;
    kill_job();
  } else {
    unsigned cpus = plan_.shape.profile == sandbox::Profile::kPure ? 1 : usable_cpus();
    next_cpu_check_ = now + std::max<Nanoseconds>(milliseconds(1), (limit - used) / cpus);
  }
}

// The second fence of memory, beside RLIMIT_DATA, which sees neither shared mappings nor the sum
// over processes. It may be late by one period, plus what a look costs.
void Cell::check_memory(Nanoseconds now) {
  next_memory_check_ = kNever;
  if (killed_) return;
  uint64_t used = memory_of_descendants(view_.init_pid).count;
  watched_peak_ = std::max(watched_peak_, used);
  if (used > order_.job->limits.memory.count) {
    result_.evidence.memory_watch = true;
    return kill_job();
  }
  Nanoseconds cost = sys::monotonic_now() - now;
  next_memory_check_ = now + std::clamp(20 * cost, kMemoryWatch, kMemoryWatchSlowest);
}

// A wall limit on a machine that had no CPU to give: the job was ready to run and was not run.
bool Cell::starved() const {
  Nanoseconds wall = order_.job->limits.wall;
  return waiting_time_of_descendants(view_.init_pid) > wall / 5;
}

// No kernel counts the peak per job (pids.peak cannot be reset), so it is what was seen when we
// looked.
void Cell::count_processes() {
  uint64_t now = cgroup_.pids().value_or(2);  // pid 1 is one of them
  result_.usage.pids_peak =
      std::max(result_.usage.pids_peak, static_cast<uint32_t>(std::max<uint64_t>(now, 2) - 1));
}

void Cell::kill_job() {
  count_processes();
  killed_ = true;
  patience_until_ = sys::monotonic_now() + kPatience;
  shim::JobOrder order;
  order.kind = shim::OrderKind::kKill;
  Result<void> sent = sys::send_message(socket_.get(), sys::bytes_of(order));
  if (!sent) kill_by_pidfd(pidfd_.get());
}

void Cell::cancel() {
  if (state_ != State::kRunning || killed_) return;
  result_.evidence.cancelled = true;
  kill_job();
  arm(sys::monotonic_now());
}

void Cell::on_notice() {
  for (int turn = 0; turn < kNoticesPerTurn; ++turn) {
    Result<std::optional<sandbox::Notice>> got = sandbox::receive_notice(listener_.get());
    if (!got) {
      listener_ready_->stop();  // every process under the filter is gone
      return;
    }
    if (!*got) return;
    const sandbox::Notice& notice = **got;
    sandbox::Ruling ruling = sandbox::rule(listener_.get(), view_, notice);
    // Pid 1 forking: from here on the program's clock runs.
    if (state_ == State::kRunning && notice.pid == view_.init_pid && !forking_) {
      forking_ = true;
      begin_clock(sys::monotonic_now());
    }
    // The note is read while the program waits inside the call.
    if (ruling.refusal && state_ == State::kRunning) record(*ruling.refusal);
    // Who is to die is not answered: it waits inside the call until the kill comes, and does
    // nothing more.
    bool doomed = state_ == State::kRunning && killed_ && notice.pid != view_.init_pid;
    if (!doomed) (void)sandbox::answer(listener_.get(), notice, ruling);
  }
}

void Cell::record(const sandbox::Refusal& refusal) {
  std::optional<Violation>& violation = result_.evidence.violation;
  if (violation) {
    ++violation->count;
  } else {
    SharedAnswer::Note note = answer_.note();
    violation = Violation{refusal.call, refusal.argument, note.line, note.event, 1};
  }
  worn_ = true;
  bool enough = order_.job->policy.on_violation == sandbox::OnViolation::kKill ||
                violation->count >= kMostRefusals;
  if (enough && !killed_) {
    result_.evidence.killed_for_violation = true;
    kill_job();
    arm(sys::monotonic_now());
  }
}

void Cell::drain() {
  drain_one(out_.get(), result_.out, order_.job ? order_.job->limits.out : sys::Bytes{0},
            Stream::kStdout);
  drain_one(err_.get(), result_.err, order_.job ? order_.job->limits.err : sys::Bytes{0},
            Stream::kStderr);
}

// Reads what is there. Past the cap the program is killed; what follows until it is dead is counted
// and thrown away, within a bound.
void Cell::drain_one(int fd, Output& output, sys::Bytes cap, Stream stream) {
  char chunk[65536];
  for (int round = 0; round < 64; ++round) {
    ssize_t n = ::read(fd, chunk, sizeof chunk);
    if (n <= 0) return;
    output.total += static_cast<uint64_t>(n);
    size_t room = static_cast<size_t>(cap.count) -
                  std::min<size_t>(output.bytes.size(), static_cast<size_t>(cap.count));
    output.bytes.append(chunk, std::min(room, static_cast<size_t>(n)));
    if (output.total <= cap.count) continue;
    output.truncated = true;
    if (result_.evidence.overflow == Stream::kNone) result_.evidence.overflow = stream;
    if (!killed_ && state_ == State::kRunning) {
      kill_job();
      arm(sys::monotonic_now());
    }
  }
}

void Cell::collect(const shim::JobDone& done) {
  timer_->stop();
  if (out_ready_->active()) {
    out_ready_->stop();
    err_ready_->stop();
  }
  if (listener_ready_) on_notice();  // a refusal that was read too late to be seen by the loop
  Evidence& seen = result_.evidence;
  if (done.failure.error != 0) {
    seen.fault = Evidence::Fault{shim::name_of(done.failure.step), done.failure.error,
                                 "the sandbox of the job could not be completed"};
  }
  seen.exit = {done.signalled != 0, done.code};
  result_.ran = done.confined_at_ns != 0;
  killed_ = true;  // nothing is left to kill: drain() must not try
  drain();
  measure(done);
  result_.testimony = take_answer();
  answer_.trim();
  if (order_.request.size() > (size_t{1} << 20)) (void)!::ftruncate(request_.get(), 0);
  uint64_t used = cgroup_.usage().value_or(sys::Bytes{0}).count;
  if (!done.clean || jobs_ >= kJobsPerCell || seen.oom_kills > 0 ||
      used > base_memory_.count + kMemoryLeftBehind.count) {
    worn_ = true;
  }
  finish(done.clean != 0);
}

// For the detail of a verdict.
void Cell::note_limits() {
  const Limits& limits = order_.job->limits;
  Evidence& seen = result_.evidence;
  seen.wall_limit_ms = limits.wall.count();
  seen.cpu_limit_ms = limits.cpu.count();
  seen.memory_limit_bytes = static_cast<int64_t>(limits.memory.count);
  seen.stdout_limit_bytes = static_cast<int64_t>(limits.out.count);
  seen.stderr_limit_bytes = static_cast<int64_t>(limits.err.count);
  seen.disk_limit_bytes = static_cast<int64_t>(limits.disk.count);
  seen.files_limit = limits.files;
  seen.pids_limit = limits.pids;
}

void Cell::measure(const shim::JobDone& done) {
  const Limits& limits = order_.job->limits;
  Evidence& seen = result_.evidence;
  Nanoseconds begin = done.forked_at_ns ? Nanoseconds(done.forked_at_ns) : started_at_;
  Nanoseconds end = done.ended_at_ns ? Nanoseconds(done.ended_at_ns) : sys::monotonic_now();
  Nanoseconds confined = done.confined_at_ns ? Nanoseconds(done.confined_at_ns) : end;
  result_.usage.cpu_us = done.cpu_ns / 1000;
  result_.usage.wall_us = micros(end - started_at_);
  std::optional<sys::Bytes> peak = cgroup_.peak();
  uint64_t rss_or_watched = std::max(watched_peak_, static_cast<uint64_t>(done.max_rss_kb) * 1024);
  int64_t peak_bytes =
      peak ? static_cast<int64_t>(peak->count) - static_cast<int64_t>(base_memory_.count)
           : static_cast<int64_t>(rss_or_watched);
  result_.usage.memory_peak_bytes =
      std::clamp<int64_t>(peak_bytes, 0, static_cast<int64_t>(limits.memory.count));
  result_.usage.contended = seen.contended;
  seen.oom_kills = static_cast<uint32_t>(cgroup_.oom_kills().value_or(oom_base_) - oom_base_);
  seen.pids_refused =
      static_cast<uint32_t>(cgroup_.pids_refused().value_or(refused_base_) - refused_base_);
  seen.disk_full = done.blocks_full != 0 || done.inodes_full != 0;
  seen.inodes_full = done.inodes_full != 0;
  // The kernel's second fence may come first by a tick; the reason is the same.
  if (seen.deadline == DeadlineKind::kNone && seen.exit.signalled &&
      done.cpu_ns >= Nanoseconds(limits.cpu).count() &&
      (seen.exit.code == SIGKILL || seen.exit.code == SIGXCPU)) {
    seen.deadline = DeadlineKind::kCpu;
  }
  seen.wall_ms = result_.usage.wall_us / 1000;
  seen.cpu_ms = result_.usage.cpu_us / 1000;
  seen.memory_peak_bytes = result_.usage.memory_peak_bytes;
  note_limits();
  result_.timing.fork = micros(begin - sent_at_);
  result_.timing.confine = micros(confined - begin);
  result_.timing.run = micros(end - confined);
  result_.timing.collect = micros(sys::monotonic_now() - end);
}

Testimony Cell::take_answer() {
  bool call_mode = order_.job->mode == shim::Mode::kCall;
  std::optional<SharedAnswer::Answer> answer = answer_.take(nonce_, order_.job->limits.value.count);
  if (!answer) {
    Testimony nothing;
    nothing.call_mode = call_mode;
    return nothing;
  }
  return decode_answer(answer->kind, answer->payload, call_mode);
}

void Cell::finish(bool reusable) {
  if (state_ == State::kRunning) state_ = reusable ? State::kIdle : State::kDead;
  RunResult result = std::move(result_);
  result_ = {};
  order_ = {};
  events_.finished(std::move(result));
}

}  // namespace runtime
