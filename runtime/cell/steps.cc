// The end of a step: what its process leaves is kept, and that process goes on as the next step, or
// is let go.

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "runtime/cell/cell.h"
#include "runtime/cell/rules/cpu_fence.h"
#include "runtime/host/proc.h"
#include "runtime/sessions/capture.h"
#include "runtime/sessions/write_tracking.h"
#include "sandbox/seccomp/syscall_names.h"
#include "sandbox/sys/socket.h"
#include "sandbox/sys/userfault.h"

namespace runtime {

using sandbox::Layer;
using sys::Nanoseconds;

namespace {

// Keeping a step may take as much CPU time as the step itself, and within these.
constexpr std::chrono::seconds kCaptureAtLeast{1}, kCaptureAtMost{10};
// CPU time to protect what has been put back, which then is read again in place of that.
constexpr std::chrono::milliseconds kProtectingAtMost{30};

bool is_userfaultfd(const sandbox::Notice& notice) {
  return sandbox::is_native(notice.arch, notice.nr) &&
         notice.nr == static_cast<int>(SYS_userfaultfd);
}

constexpr const char* kNotWanted = "the request keeps no such step";

}  // namespace

struct Cell::Capturing {
  CaptureOrder order;
  bool stands_by = false;
  Nanoseconds most_cpu{};
  Nanoseconds for_others{};  // CPU time: nodes of other steps are written to the disk to make room
  std::atomic<bool> stop{false};
  Captured captured;
  EarlierProgress progress;  // of a process that may go on

  void run() {
    const Nanoseconds began = cpu_of_this_thread();
    order.room.reserve = [this, reserve = std::move(order.room.reserve)](uint64_t bytes) {
      const Nanoseconds before = cpu_of_this_thread();
      NodeBudget::Hold hold = reserve(bytes);
      for_others += cpu_of_this_thread() - before;
      return hold;
    };
    order.bounds.give_up = [this, began] {
      return stop.load(std::memory_order_relaxed) ||
             cpu_of_this_thread() - began - for_others > most_cpu;
    };
    captured = stands_by ? look_at_standby(order) : capture(order);
    if (!captured.may_go_on) return;
    const Progress now = progress_of({captured.rests_as.pid});
    progress = {captured.rests_as.pid, now.ran, now.waited};
  }
};

// What the step was given to read and to write.
std::array<FileNumber, 3> Cell::streams() const {
  std::array<FileNumber, 3> numbers;
  sys::OwnedFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto given = [&](int own, int usual) { return own >= 0 ? own : usual; };
  numbers[0] = number_of_file(given(order_.stdin_fd, null.get()));
  numbers[1] = number_of_file(given(order_.stdout_fd, out_.get()));
  numbers[2] = number_of_file(given(order_.stderr_fd, err_.get()));
  return numbers;
}

// The step is over, and its process does nothing more. It is looked at beside the loop, as how long
// that takes is of the program's making; no deadline holds meanwhile.
void Cell::on_rests(const shim::JobRests& rests) {
  clock_.hold();
  stand_back(false);
  auto errand = std::make_shared<Capturing>();
  errand->stands_by = order_.stands_by;
  if (rests.has_timer) errand->captured.why_not = "a timer";
  // Who is left beside it would have no deadline.
  if (plan_.shape.runs_programs() && family().size() != 1)
    errand->captured.why_not = "a child process";
  else if (!order_.job->keep)
    errand->captured.why_not = kNotWanted;
  if (!errand->captured.why_not.empty()) return on_captured(*errand);
  const Limits& limits = order_.job->limits;
  errand->most_cpu = std::clamp<Nanoseconds>(limits.cpu, kCaptureAtLeast, kCaptureAtMost);
  CaptureOrder& order = errand->order;
  order.forked_from = view_.init_pid;
  order.beginning = beginning_;
  order.parent = sys::OwnedFd(::fcntl(pidfd_.get(), F_DUPFD_CLOEXEC, 0));
  order.jobs = [of = household()] { return of.jobs(); };
  order.root = sys::OwnedFd(::fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
  order.scratch = scratch_directory();
  order.streams = given_;
  order.most_descriptors = rlimits_.open_files;
  if (may_stay()) order.given = rlimits_;
  order.request_bytes = process_.told_first;
  order.end_of_heap = rests.end_of_heap;
  order.from = order_.state;
  if (may_stay()) order.tracking = process_.tracking;
  if (!errand->stands_by) order.is_protected = std::exchange(process_.is_protected, false);
  order.verifies = plan_.verifies_rollback;
  order.bounds = {.bytes = limits.disk.count, .entries = limits.files};
  order.room = order_.room;
  capturing_ = errand;
  aside(
      Helpers::Where::kAnywhere, [errand] { errand->run(); },
      [this, errand] { on_captured(*errand); });
}

void Cell::on_captured(Capturing& capturing) {
  capturing_.reset();
  result_.state = std::move(capturing.captured.state);
  result_.why_no_state = std::move(capturing.captured.why_not);
  process_.rests = capturing.captured.rests_as;
  if (!capturing.stands_by) process_.is_protected = capturing.captured.is_protected;
  if (!capturing.stands_by && !process_.is_protected) process_.tracking.reset();
  process_.has_come = capturing.progress;
  stays_ = capturing.captured.may_go_on &&
           memory_.may_stay(cgroup_.usage().value_or(sys::Bytes{0}), process_.rests.held);
  const Job& job = *order_.job;
  const bool is_alone = result_.state || result_.why_no_state == kNotWanted;
  if (job.outputs.empty() || !is_alone) return release();
  collect_outputs_of(job);
}

// ---- which pages a step writes to

// The first call of a process that will hand over what tells of its writes is that of code that
// nobody has touched.
bool Cell::asks_for_tracking(const sandbox::Notice& notice) {
  if (!process_.will_ask || !life_.is_running() || !is_userfaultfd(notice)) return false;
  process_.will_ask = false;
  return notice.args[0] == sys::kUserfaultFlags;
}

// And its second, when its node is put back. It waits until that is protected.
bool Cell::tells_of_its_node(const sandbox::Notice& notice) {
  const bool is_next = process_.will_tell && !process_.will_ask && life_.is_running();
  if (!is_next || !is_userfaultfd(notice)) return false;
  process_.will_tell = false;
  return notice.args[0] == sys::kUserfaultFlags;
}

void Cell::on_tracked(std::vector<sys::OwnedFd> tracking) {
  process_.has_handed_over = true;
  if (!tracking.empty() && sys::begin_write_tracking(tracking.front().get()))
    process_.tracking = std::make_shared<const sys::OwnedFd>(std::move(tracking.front()));
  if (process_.told) protect_node(*std::exchange(process_.told, std::nullopt));
}

// Pages of the node that the step writes to are told from those that it leaves as they are. The
// listener may be heard before the socket, although the process has spoken there before.
void Cell::protect_node(const sandbox::Notice& notice) {
  if (!process_.has_handed_over) {
    process_.told = notice;
    return;
  }
  struct Errand {
    int pid;
    std::shared_ptr<const sys::OwnedFd> tracking;
    std::shared_ptr<const NodeState> node;
    bool is_done = false;

    void run() {
      const Nanoseconds until = cpu_of_this_thread() + kProtectingAtMost;
      const auto give_up = [until] { return cpu_of_this_thread() > until; };
      is_done = tracking && protect_node_pages(tracking->get(), pid, *node, give_up);
    }
  };
  auto errand = std::make_shared<Errand>();
  errand->pid = static_cast<int>(notice.pid);
  errand->tracking = process_.tracking;
  errand->node = order_.state;
  aside(
      Helpers::Where::kNear, [errand] { errand->run(); },
      [this, errand, notice] {
        process_.is_protected = errand->is_done;
        settle_notice(notice, sandbox::fail_quietly(EPERM));
      });
}

// ---- a process that stays

// As the next step, with enough CPU time before the kernel's fence.
bool Cell::may_stay() const {
  constexpr std::chrono::seconds kSpare{1};
  const Limits& limits = order_.job->limits;
  const Nanoseconds used = process_.spent + (cpu_now() - cpu_base_);
  const bool has_time = used + limits.cpu + kSpare < std::chrono::seconds(cpu_fence_of(limits.cpu));
  return order_.may_stay && lets_stay() && has_time && !life_.is_worn();
}

// Where a process that stays can be accounted for, and tells nobody of its calls.
bool Cell::lets_stay() const {
  return !plan_.scratch && !observer_ && layers_.has(Layer::kCgroupMemory) &&
         layers_.has(Layer::kCgroupCpu);
}

// kOccupied.
void Cell::vacate() {
  life_.vacate();
  timer_->start(CellLife::kBirthPatience);
  shim::JobOrder release;
  release.kind = shim::OrderKind::kRelease;
  if (!sys::send_message(socket_.get(), sys::bytes_of(release))) kill_by_pidfd(pidfd_.get());
}

void Cell::on_vacated(const shim::JobDone& done) {
  const sys::Bytes used = cgroup_.usage().value_or(sys::Bytes{0});
  (void)memory_.close({.peak = used, .unused_warm = {}, .used = used, .warm = {}});
  life_.judge({.clean = done.clean != 0, .oom_kills = 0, .memory = memory_.left()});
  timer_->stop();
  // Whoever has stopped has written nothing.
  if (!life_.finish_vacating(done.clean != 0 && !life_.is_worn() && !has_output()))
    return on_exit();
  process_.tracking.reset();
  events_.ready();
}

bool Cell::has_output() const {
  pollfd ends[] = {{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}};
  return ::poll(ends, std::size(ends), 0) != 0;
}

// What it left has been read: pid 1 goes on.
void Cell::release() {
  const Nanoseconds now = sys::monotonic_now();
  clock_.release(now);
  shim::JobOrder release;
  release.kind = stays_ ? shim::OrderKind::kStay : shim::OrderKind::kRelease;
  if (!sys::send_message(socket_.get(), sys::bytes_of(release))) kill_by_pidfd(pidfd_.get());
  arm(now);
}

void Cell::stop_capturing() {
  if (capturing_) capturing_->stop = true;
}

}  // namespace runtime
