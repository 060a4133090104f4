// A cell's supervisor looks at these while a job runs, beside the clock: the calls that the filter
// asks about, and, where no cgroup and no tmpfs counts, memory, scratch and processes.

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>

#include "runtime/cell/cell.h"
#include "runtime/host/proc.h"
#include "sandbox/notify/files.h"
#include "sandbox/seccomp/report.h"
#include "sandbox/seccomp/syscall_names.h"

namespace runtime {

using sandbox::Asks;
using sandbox::Layer;
using sandbox::Notice;
using sandbox::Ruling;
using sandbox::SignalAsked;
using std::chrono::milliseconds;
using sys::Nanoseconds;
using sys::Result;

namespace {

// A program that goes on after so many refused calls is killed: it only burns the supervisor's
// time.
constexpr uint32_t kMostRefusals = 1000;
// One cell has so many answered in one turn of the loop; the others wait meanwhile.
constexpr int kNoticesPerTurn = 64;
constexpr Nanoseconds kTurn = milliseconds(2);  // of many calls, each of them short
// Files in memory that are mapped nowhere are seen by no watch: each is bounded by RLIMIT_FSIZE,
// and all of them by this.
constexpr uint64_t kMostMemfds = 8;

// setpgid() of a process on itself.
bool makes_own_group(const Notice& notice) {
  auto is_self = [&](uint64_t arg) {
    const int pid = static_cast<int>(static_cast<uint32_t>(arg));
    return pid == 0 || pid == notice.pid;
  };
  return is_self(notice.args[0]) && is_self(notice.args[1]);
}

bool is_call(const Notice& notice, long number) { return notice.nr == static_cast<int>(number); }

}  // namespace

// ---- calls that are asked about

void Cell::on_notice() {
  const Nanoseconds until = sys::monotonic_now() + kTurn;  // each is looked at quickly
  for (int turn = 0; turn < kNoticesPerTurn && sys::monotonic_now() < until; ++turn) {
    Result<std::optional<Notice>> got = sandbox::receive_notice(listener_.get());
    if (!got) {
      listener_ready_->stop();  // every process under the filter is gone
      return;
    }
    if (!*got) return;
    Notice& notice = **got;
    notice.reader = plan_.ids.reader;
    if (tells_of_its_node(notice)) {
      protect_node(notice);
      continue;
    }
    const bool by_init = is_ours(notice);
    const std::optional<Ruling> ruling = by_init ? sandbox::go_on() : rule(notice);
    if (!ruling) {
      ask_aside(notice);
      continue;
    }
    // A job is being forked, or its holder starts it: from here on the program's clock runs.
    if (life_.is_running() && by_init && is_call(notice, SYS_clone) && clock_.forks())
      begin_clock(sys::monotonic_now());
    settle_notice(notice, *ruling);
  }
}

// By pid 1, or the holder's only call that its filter does not allow, with the arguments that pid 1
// has written: it starts the job that was ordered. Arguments in registers cannot change while it
// waits.
bool Cell::is_ours(const Notice& notice) const {
  if (notice.pid == view_.init_pid) return true;
  constexpr uint64_t kStart =
      CLONE_VM | CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
  return holder_pid_ != 0 && notice.pid == holder_pid_ && life_.is_running() &&
         is_call(notice, SYS_clone) && notice.args[0] == kStart && notice.args[1] == 0;
}

void Cell::settle_notice(const Notice& notice, const Ruling& ruling) {
  const bool by_init = is_ours(notice);
  if (!by_init && observer_) observer_->count(notice, ruling);
  // The note is read while the program waits inside the call.
  if (ruling.refusal && life_.is_running()) record(*ruling.refusal);
  if (ruling.unseen && life_.is_running() && !clock_.is_doomed()) abandon(ruling.error);
  // A job that is to die is not answered: it waits inside the call until the kill comes, and does
  // nothing more.
  const bool doomed = life_.is_running() && clock_.is_doomed() && !by_init;
  if (!doomed) (void)sandbox::answer(listener_.get(), notice, ruling);
}

// ---- questions that take a look at the job

// The descriptors that a look needs, shared with it because the cell may be destroyed meanwhile.
struct Cell::Lookout {
  sandbox::CellView view;
  sys::OwnedFd listener, root;
};

struct Cell::Question {
  std::shared_ptr<const Lookout> lookout;
  sandbox::Notice notice;
  bool may_answer;  // where it looks; what is to be counted is answered in the loop
  Ruling ruling{};
  bool answered = false;
  Nanoseconds cost{};

  void look() {
    const Nanoseconds began = cpu_of_this_thread();
    const int asked = lookout->listener.get();
    ruling = sandbox::rule(asked, lookout->view, notice);
    answered = may_answer && !ruling.refusal && !ruling.unseen && ruling.asks == Asks::kNothing;
    if (answered) (void)sandbox::answer(asked, notice, ruling);
    cost = cpu_of_this_thread() - began;
  }
};

// A path can lead through forty links to paths of two thousand names each, and a page of its text
// can be locked by a program that has no CPU. Only the program that asked waits for the look, and
// what it costs is the program's CPU time: one at a time, so that no job has more of us than one
// CPU.
void Cell::ask_aside(const Notice& notice) {
  if (!life_.is_running()) {
    (void)sandbox::answer(listener_.get(), notice, sandbox::fail_quietly(EPERM));
    return;
  }
  questions_.push_back(notice);
  if (questions_.size() == 1) ask_next();
}

bool Cell::take_up_lookout() {
  if (lookout_) return true;
  auto lookout = std::make_shared<Lookout>();
  lookout->listener = sys::OwnedFd(::fcntl(listener_.get(), F_DUPFD_CLOEXEC, 0));
  lookout->root = sys::OwnedFd(::fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
  if (!lookout->listener || !lookout->root) return false;
  lookout->view = view_;
  lookout->view.root_fd = lookout->root.get();
  lookout_ = std::move(lookout);
  return true;
}

void Cell::ask_next() {
  const bool counts = observer_ || plan_.variant.shared_uid;
  if (!take_up_lookout()) {
    Question unseen{.lookout = nullptr, .notice = questions_.front(), .may_answer = false};
    unseen.ruling = sandbox::fail_quietly(errno);
    unseen.ruling.unseen = true;
    return on_answer(unseen);
  }
  auto question = std::make_shared<Question>(
      Question{.lookout = lookout_, .notice = questions_.front(), .may_answer = !counts});
  aside(
      Helpers::Where::kNear, [question] { question->look(); },
      [this, question] { on_answer(*question); });
}

void Cell::on_answer(const Question& question) {
  const bool was_dear = clock_.looked(question.cost);
  if (!question.answered) settle_notice(question.notice, decide(question.notice, question.ruling));
  if (!life_.is_running()) return;
  questions_.pop_front();
  if (clock_.is_doomed()) return questions_.clear();
  if (was_dear) {
    const Nanoseconds now = sys::monotonic_now();
    check_cpu(now);
    arm(now);
  }
  if (!clock_.is_doomed() && !questions_.empty()) ask_next();
}

// The first execve of a job is the shim's own, by code that nobody has touched: the program's first
// instruction comes after it. What borrows its memory executes nothing: a program in a memory of
// its own could do what the filter of borrowers lets through for the holder.
bool Cell::becomes_its_program(const Notice& notice) {
  if (!plan_.executes || holder_ || executed_ || !life_.is_running()) return false;
  return executed_ = is_call(notice, SYS_execve) || is_call(notice, SYS_execveat);
}

// Registers alone: no job can make us wait by it.
bool Cell::tells_of_unfixed_child(const Notice& notice) const {
  return life_.is_running() && order_.job->fixed.on && sandbox::is_native(notice.arch, notice.nr) &&
         is_call(notice, sandbox::kTrapReportCall) && notice.args[0] == sandbox::kNotFixedOption;
}

// Without a look at the job itself: nothing if that is not enough.
std::optional<Ruling> Cell::rule(const Notice& notice) {
  if (tells_of_unfixed_child(notice)) {
    result_.had_unfixed_child = true;
    return sandbox::fail_quietly(EINVAL);
  }
  if (becomes_its_program(notice) || asks_for_tracking(notice)) return sandbox::go_on();
  if (observer_) {
    if (std::optional<Ruling> settled = observer_->settle(notice)) return settled;
  }
  const std::optional<Ruling> ruling = sandbox::rule_by_registers(view_, notice);
  return ruling ? decide(notice, *ruling) : ruling;
}

// Allows a legal call within limits that only we know.
Ruling Cell::decide(const Notice& notice, const Ruling& asked) {
  switch (asked.asks) {
    case Asks::kNothing:
      break;
    case Asks::kProcess:
      return has_room_for_process() ? sandbox::go_on() : sandbox::fail_quietly(EAGAIN);
    case Asks::kMemfd:
      return memfds_++ < kMostMemfds ? sandbox::go_on() : sandbox::fail_quietly(EMFILE);
    case Asks::kPipe:
      return has_room_for_pipe() ? sandbox::go_on() : sandbox::fail_quietly(EMFILE);
    case Asks::kSignal: {
      int error = signal_error(notice, asked.signal);
      return error == 0 ? sandbox::go_on() : sandbox::fail_quietly(error);
    }
  }
  if (!plan_.variant.shared_uid) return asked;
  // Leaving the group would be leaving the sweeper's reach. The job's first process makes it, by
  // the first call that is notified at all (shim/cell/run_job.cc); again, it changes nothing.
  if (job_pid_ == 0) job_pid_ = notice.pid;
  if (is_call(notice, SYS_setsid)) return sandbox::fail_quietly(EPERM);
  if (is_call(notice, SYS_setpgid))
    return makes_own_group(notice) && notice.pid == job_pid_ ? sandbox::go_on()
                                                             : sandbox::fail_quietly(EPERM);
  if (is_call(notice, SYS_pidfd_open)) {
    const int error = reach_error(static_cast<int>(notice.args[0]));
    return error == 0 ? sandbox::go_on() : sandbox::fail_quietly(error);
  }
  return asked;
}

// Each new task adds one to an upper bound; only at the limit are those that live counted again.
// Between two threads that ask at once one too many may come through, which RLIMIT_NPROC bounds.
bool Cell::has_room_for_process() {
  if (!life_.is_running()) return false;
  const uint64_t limit = order_.job->limits.pids;
  if (tasks_allowed_ >= limit) tasks_allowed_ = tasks_of(family());
  if (tasks_allowed_ >= limit) {
    ++tasks_refused_;
    return false;
  }
  ++tasks_allowed_;
  return true;
}

bool Cell::has_room_for_pipe() {
  const sys::Nanoseconds now = sys::monotonic_now();
  if (pipes_.must_count(now)) {
    const sys::Nanoseconds begun = cpu_of_this_thread();
    const uint64_t living = pipes_of(family(), plan_.ids.reader, pipes_.most());
    pipes_.count(living, now, cpu_of_this_thread() - begun);
  }
  return pipes_.add();
}

// Where all cells have one uid the kernel lets a job signal any of them. It may signal what it has
// started itself; for everything else it gets the answer that a namespace of its own would give.
int Cell::signal_error(const Notice&, const SignalAsked& asked) const {
  if (asked.to == SignalAsked::To::kPidfd) return EPERM;
  int process = asked.process != 0 ? asked.process : asked.target;
  if (process == 0 && asked.to == SignalAsked::To::kProcess) return 0;  // its own group
  if (process == std::numeric_limits<int>::min()) return ESRCH;
  if (asked.to == SignalAsked::To::kThread && asked.process == 0) {
    process = process_of_thread(asked.target);
  }
  return reach_error(process < -1 ? -process : process);  // a group: its leader
}

int Cell::reach_error(int process) const {
  if (process == view_.init_pid) return EPERM;
  const std::vector<int> own = family();
  if (std::find(own.begin(), own.end(), process) != own.end()) return 0;
  return ::kill(process, 0) == 0 || errno == EPERM ? EPERM : ESRCH;
}

// The job, or what it left, cannot be looked at for want of our own means, so there is nothing that
// we could say of it.
void Cell::abandon(int error) {
  if (!result_.evidence.fault)
    result_.evidence.fault =
        Evidence::Fault{shim::Step::kWatch, error,
                        "zygo has run out of descriptors or memory, and could not look at the job"};
  if (clock_.is_doomed()) return;
  kill_job();
  arm(sys::monotonic_now());
}

// The language made this call, not the program.
bool Cell::is_forgiven(const std::string& call) {
  if (!order_.runtime) return false;
  for (const auto& [name, times] : order_.runtime->forgiven) {
    if (name == call) return forgiven_[call]++ < times;
  }
  return false;
}

void Cell::record(const sandbox::Refusal& refusal) {
  if (is_forgiven(refusal.call)) return;
  life_.wear_out();
  if (order_.job->policy.refusals == Refusals::kOverlooked && ++overlooked_ < kMostRefusals) return;
  std::optional<Violation>& violation = result_.evidence.violation;
  if (violation) {
    ++violation->count;
  } else {
    SharedAnswer::Note note = answer_->note();
    violation = Violation{refusal.call, refusal.argument, note.line, note.event, 1};
  }
  bool enough = order_.job->policy.on_violation == sandbox::OnViolation::kKill ||
                violation->count >= kMostRefusals;
  if (enough && !clock_.is_doomed()) {
    result_.evidence.killed_for_violation = true;
    kill_job();
    arm(sys::monotonic_now());
  }
}

// ---- what nobody else counts

std::vector<int> Cell::Household::jobs() const {
  std::vector<int> all = descendants_of(init_pid, offspring);
  if (holder_pid != 0) std::erase(all, holder_pid);
  return all;
}

Cell::Household Cell::household() const {
  const bool forks = plan_.shape.runs_programs();
  return {view_.init_pid, holder_pid_, forks ? Offspring::kAll : Offspring::kChildren};
}

std::vector<int> Cell::family() const { return household().jobs(); }

// Where to look, and what was seen there.
struct Cell::Sight {
  Household household;
  std::optional<uint32_t> reader;
  bool memory_counts = false;
  BorrowedPart borrowed_part;
  sys::OwnedFd scratch;
  uint64_t scratch_device = 0, most_entries = 0;

  sys::Bytes memory{};
  sandbox::Contents held;
  Nanoseconds cost{};

  void look() {
    const Nanoseconds began = sys::monotonic_now();
    const std::vector<int> family = household.jobs();
    if (memory_counts && household.holder_pid == 0) memory = memory_of(family, reader);
    if (memory_counts && household.holder_pid != 0) {
      for (int process : family) memory.count += borrowed_part.of(residence_of(process)).count;
    }
    if (scratch) {
      held = Scratch::measure(scratch.get(), most_entries);
      held.bytes += nameless_bytes_of(family, scratch_device, reader);
    }
    cost = sys::monotonic_now() - began;
  }
};

// May be late by one period, plus what a look costs: it goes over all memory, files and processes
// that the job has made, beside the loop.
void Cell::watch() {
  auto sight = std::make_shared<Sight>();
  sight->household = household();
  sight->borrowed_part = borrowed_part_;
  sight->reader = plan_.ids.reader;
  sight->memory_counts = !layers_.has(Layer::kCgroupMemory);
  sight->scratch_device = view_.scratch_device;
  sight->most_entries = order_.job->limits.files + uint64_t{1};
  if (plan_.scratch) {
    sight->scratch = sys::OwnedFd(::fcntl(plan_.scratch.fd(), F_DUPFD_CLOEXEC, 0));
    if (!sight->scratch) return abandon(errno);
  }
  aside(
      Helpers::Where::kAnywhere, [sight] { sight->look(); }, [this, sight] { on_watched(*sight); });
}

// Memory: the second fence, beside RLIMIT_DATA, which sees neither shared mappings nor the sum over
// processes.
void Cell::on_watched(const Sight& sight) {
  if (!clock_.heeds_watch()) return;
  const Limits& limits = order_.job->limits;
  Evidence& seen = result_.evidence;
  watched_peak_ = std::max(watched_peak_, sight.memory.count);
  seen.memory_watch = sight.memory.count > limits.memory.count;
  seen.inodes_full = sight.held.entries > limits.files;
  seen.disk_full = seen.inodes_full || sight.held.bytes > limits.disk.count;
  const Nanoseconds now = sys::monotonic_now();
  if (seen.memory_watch || seen.disk_full) {
    kill_job();
  } else {
    clock_.watched(now, sight.cost);
  }
  arm(now);
}

}  // namespace runtime
