// A cell's path through one job: it carries out what the run's clock says.

#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "runtime/cell/cell.h"
#include "runtime/cell/rules/slowness.h"
#include "runtime/host/proc.h"
#include "runtime/job/micros.h"
#include "sandbox/sys/socket.h"

namespace runtime {

using sandbox::Layer;
using sys::Nanoseconds;
using sys::Result;

namespace {

uint64_t random_nonce() {
  uint64_t value = 0;
  while (value == 0) VERIFY(::getrandom(&value, sizeof value, 0) == sizeof value);
  return value;
}

}  // namespace

void Cell::run(const RunOrder& order) {
  const bool goes_on = state() == State::kOccupied;
  if (goes_on)
    oom_base_ = cgroup_.oom_kills().value_or(oom_base_);  // it may have been killed since
  else
    process_ = {.told_first = order.request.size()}, memory_.begin();
  life_.begin_run();
  order_ = order;
  result_ = {};
  full_ = false;
  executed_ = plan_.in_place && order.in_place;  // there, no execve is the shim's
  forgiven_.clear();
  overlooked_ = 0;
  watched_peak_ = 0;
  in_sight_.clear();
  aimed_at_ = {};
  bearings_.reset();
  tasks_allowed_ = 1;
  job_pid_ = 0;
  tasks_refused_ = memfds_ = 0;
  pipes_ = PipeCount(plan_.most_pipes);
  nonce_ = random_nonce();
  outer_oom_base_ = outer_oom_kills();
  cgroup_.reset_peak();
  if (measures_borrowed_part()) borrowed_part_.begin(residence_of(holder_pid_), ended_with_.warm);
  sent_at_ = looked_at_ = sys::monotonic_now();
  clock_.order(terms(), sent_at_);
  Result<void> sent = send_order(goes_on);
  stays_ = false;
  if (!sent) return lose({shim::Step::kSendOrder, sent.error().code(), sent.error().text()});
  begin_clock(sent_at_);
}

Result<void> Cell::set_limits(const Limits& limits) {
  const sys::Bytes memory = memory_.limit(limits.memory);
  if (layers_.has(Layer::kCgroupMemory) && std::exchange(memory_limit_, std::nullopt) != memory) {
    TRY(cgroup_.set_memory_limit(memory));
  }
  memory_limit_ = memory;
  if (layers_.has(Layer::kCgroupPids) && std::exchange(pids_limit_, std::nullopt) != limits.pids) {
    TRY(cgroup_.set_pids_limit(limits.pids + our_processes()));
  }
  pids_limit_ = limits.pids;
  return {};
}

uint64_t Cell::outer_oom_kills() const {
  return plan_.outer_oom ? plan_.outer_oom->kills().value_or(0) : 0;
}

Nanoseconds Cell::cpu_now() const { return cgroup_.cpu_usage().value_or(Nanoseconds(0)); }

RunClock::Terms Cell::terms() const {
  const Limits& limits = order_.job->limits;
  const bool only_rlimits = !layers_.has(Layer::kCgroupMemory) && layers_.has(Layer::kRlimits);
  return {.wall = limits.wall,
          .cpu = limits.cpu,
          .cell = plan_.number,
          .makes_processes = plan_.shape.runs_programs(),
          .is_watched = only_rlimits || plan_.scratch,
          // The turns of a conversation are short, however much CPU time they come to.
          .may_stand_back = cgroup_.can_stand_back() && !order_.comes_first};
}

void Cell::begin_clock(Nanoseconds now) {
  clock_.begin(now);
  cpu_base_ = cpu_now();
  if (const auto& pairing = order_.job->pairing)
    pairing->begin(order_.job->side, [of = household(), cpus = cpus_of_job()] {
      const Progress progress = progress_of(of.jobs());
      return Waiting{progress.waited, progress.ran, cpus};
    });
  among_.emplace(*plan_.crowd);
  arm(now);
}

void Cell::arm(Nanoseconds now) { timer_->start(clock_.next() - now); }

void Cell::on_timer() {
  switch (life_.on_timer()) {
    case CellLife::Timer::kNothing:
      return;
    case CellLife::Timer::kTooLate:
      return lose({shim::Step::kCell, ETIME, "the cell was not ready within the time allowed"});
    case CellLife::Timer::kKill:
      return void(kill_by_pidfd(pidfd_.get()));
    case CellLife::Timer::kRun:
      break;
  }
  using Due = RunClock::Due;
  const Nanoseconds now = sys::monotonic_now();
  for (Due due = clock_.next_due(now); due != Due::kNothing; due = clock_.next_due(now, due)) {
    carry_out(due, now);
    if (!life_.is_running()) return;
  }
  arm(now);
}

void Cell::carry_out(RunClock::Due due, Nanoseconds now) {
  using Due = RunClock::Due;
  switch (due) {
    case Due::kNothing:
      return;
    case Due::kCpu:
      return check_cpu(now);
    case Due::kAim:
      return take_aim();
    case Due::kWall:
      return on_wall_deadline(now);
    case Due::kAttention:
      return begin_attention();
    case Due::kPatience:
      return give_up();
    case Due::kWatch:
      return watch();
    case Due::kStanding:
      return check_standing(now);
    case Due::kBearings:
      bearings_ = plan_.trouble->look(plan_.cpu, now);
      return;
  }
}

void Cell::begin_attention() {
  count_processes();
  out_ready_->start();
  err_ready_->start();
}

void Cell::give_up() {
  // Timers come before what the socket has: the job may have ended meanwhile.
  const uint64_t nonce = nonce_;
  on_socket();
  if (!life_.heeds(nonce == nonce_)) return;
  kill_by_pidfd(pidfd_.get());
  lose({shim::Step::kKill, ETIME,
        clock_.is_doomed() ? "the job did not die within the time allowed"
                           : "the job's cell did nothing more within the time allowed"});
}

// Everything that is needed at the deadline is looked up a little before.
void Cell::take_aim() {
  count_processes();
  in_sight_ = hold_processes(view_.init_pid, family());
  looked_at_ = sys::monotonic_now();
  aimed_at_ = progress_of(family(), process_.came);
  std::optional<Nanoseconds> oldest;
  for (const HeldProcess& process : in_sight_) {
    if (has_ended(process)) continue;
    const Nanoseconds began = start_of(process.pid).value_or(clock_.started_at());
    oldest = std::min(oldest.value_or(began), began);
  }
  clock_.aimed(sys::monotonic_now(), oldest, waiting_of(aimed_at_), waiting_of_other_side());
}

// Of children that have ended, the group alone knows the CPU time.
Waiting Cell::waiting_of(const Progress& progress) const {
  const Nanoseconds ran = layers_.has(Layer::kCgroupCpu) ? cpu_now() - cpu_base_ : progress.ran;
  return {progress.waited, std::max(ran, progress.ran), cpus_of_job()};
}

Waiting Cell::waiting_of_other_side() const {
  const auto& pairing = order_.job->pairing;
  return pairing ? pairing->waiting_of_other(order_.job->side) : Waiting();
}

unsigned Cell::cpus_of_job() const {
  return plan_.shape.profile == sandbox::Profile::kPure ? 1 : usable_cpus();
}

// Whether the deadline is put off. A job that slept at the look before may wait for a CPU now.
bool Cell::waits_for_cpu(Nanoseconds now) {
  const Nanoseconds since = std::exchange(looked_at_, sys::monotonic_now());
  const Progress before = std::exchange(aimed_at_, progress_of(family(), process_.came));
  if (clock_.has_waited(now, waiting_of(aimed_at_), waiting_of_other_side())) return true;
  return aimed_at_.is_ready && clock_.still_waits(now, {.ran = aimed_at_.ran != before.ran,
                                                        .apart = sys::monotonic_now() - since,
                                                        .is_crowded = are_cpus_crowded()});
}

// After waits_for_cpu(). Its processes are looked at only where the machine's disks were slow.
Slowness Cell::slowness(Nanoseconds now) const {
  if (!bearings_) return Slowness::kNone;
  const HostTrouble::Reading seen = plan_.trouble->look(plan_.cpu, now);
  const Trouble trouble{.window = seen.at - bearings_->at,
                        .stolen = seen.stolen - bearings_->stolen,
                        .disk = seen.disk - bearings_->disk};
  const Waiting own = waiting_of(aimed_at_);
  if (theft_explains(trouble, own)) return Slowness::kStolenTime;
  return disk_explains(trouble, own) && have_met_disk(family()) ? Slowness::kDisk : Slowness::kNone;
}

void Cell::on_wall_deadline(Nanoseconds now) {
  if (in_sight_.empty()) {  // it had not begun at the look before: its time may be no time of its
    take_aim();
    if (clock_.is_put_off(now)) return;
  }
  if (waits_for_cpu(now)) return;
  const Slowness slowed_by = slowness(now);  // while its processes can be asked
  const bool killed = plan_.terminator->end(std::exchange(in_sight_, {}));
  if (!killed) {
    if (const auto left = all_ended()) return clock_.all_ended(now, *left);
  }
  result_.evidence.deadline = DeadlineKind::kWall;
  result_.evidence.slowed_by = slowed_by;
  result_.evidence.contended = clock_.is_contended() || slowed_by != Slowness::kNone;
  result_.evidence.waited_ms = micros(clock_.deadline_moved()) / 1000;
  if (!killed) return kill_job();
  note_stopped();
  see_to_the_rest();
}

// Nobody lives below pid 1. Those that it has not reaped, because it was stopped or starved itself,
// are dead all the same. A program that forks and ends all the time has not ended: each look finds
// another process.
std::optional<RunClock::Left> Cell::all_ended() const {
  std::vector<int> dead;
  for (const HeldProcess& process : hold_processes(view_.init_pid, family())) {
    if (!has_ended(process)) return std::nullopt;
    dead.push_back(process.pid);
  }
  for (int process : family()) {
    if (std::find(dead.begin(), dead.end(), process) == dead.end()) return std::nullopt;
  }
  return dead.empty() ? RunClock::Left::kNobody : RunClock::Left::kDead;
}

void Cell::check_cpu(Nanoseconds now) {
  const bool by_cgroup = layers_.has(Layer::kCgroupCpu);
  const Nanoseconds used = by_cgroup ? cpu_now() - cpu_base_ : cpu_of(family());
  if (const auto charged = clock_.used_up(used)) {
    result_.evidence.deadline = DeadlineKind::kCpu;
    result_.usage.cpu_us = micros(*charged);  // children that nobody waits for are in no rusage
    return kill_job();
  }
  clock_.read_cpu_again(now, used, cpus_of_job());
}

void Cell::check_standing(Nanoseconds now) {
  stand_back(clock_.stands_back(now, cpu_now() - cpu_base_, plan_.crowd->share()));
}

void Cell::stand_back(bool back) {
  if (std::exchange(stands_back_, back) != back) cgroup_.set_back(back);
}

// No kernel counts the peak per job (pids.peak cannot be reset), so it is what was seen when we
// looked.
void Cell::count_processes() {
  const uint64_t ours = our_processes();
  const uint64_t now = cgroup_.pids().value_or(tasks_allowed_ + ours);
  result_.usage.pids_peak = std::max(
      result_.usage.pids_peak, static_cast<uint32_t>(std::max<uint64_t>(now, ours + 1) - ours));
}

void Cell::kill_job() {
  count_processes();
  in_sight_.clear();
  if (plan_.terminator->end(hold_processes(view_.init_pid, family()))) note_stopped();
  see_to_the_rest();
}

// Work that takes longer than a signal waits until all others that are due have had theirs:
// programs may have started others since, and pid 1 takes the CPU from us as soon as it has its
// order.
void Cell::see_to_the_rest() {
  clock_.kill(sys::monotonic_now());
  auto rest = [weak = std::weak_ptr(self_), nonce = nonce_] {
    auto alive = weak.lock();
    if (!alive || !(*alive)->life_.heeds((*alive)->nonce_ == nonce)) return;
    Cell& cell = **alive;
    cell.clock_.stand_no_more();
    cell.stand_back(false);  // who has to die needs the CPU once more
    if (cell.plan_.shape.runs_programs() &&
        cell.plan_.terminator->end(hold_processes(cell.view_.init_pid, cell.family())))
      cell.note_stopped();
    shim::JobOrder order;
    order.kind = shim::OrderKind::kKill;
    Result<void> sent = sys::send_message(cell.socket_.get(), sys::bytes_of(order));
    if (!sent) kill_by_pidfd(cell.pidfd_.get());
  };
  // Without a namespace pid 1 has a sweeper sweep behind each kill, and must hear of it before it
  // hears that the program is dead.
  if (!layers_.has(Layer::kPidNs)) return rest();
  plan_.terminator->afterwards(std::move(rest));
}

void Cell::note_stopped() {
  result_.usage.stopped_us = micros(sys::monotonic_now() - clock_.started_at());
}

void Cell::cancel() {
  if (!life_.is_running()) return;
  stop_collecting();
  const RunClock::Cancel wish = clock_.cancel();
  if (wish == RunClock::Cancel::kTooLate) return;
  result_.evidence.cancelled = true;
  if (wish == RunClock::Cancel::kNote) return;
  kill_job();
  arm(sys::monotonic_now());
}

}  // namespace runtime
