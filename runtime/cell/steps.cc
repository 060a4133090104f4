// The end of a step: what its process leaves is kept, and that process is let go.

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/cell/cell.h"
#include "runtime/host/proc.h"
#include "runtime/sessions/capture.h"
#include "sandbox/sys/socket.h"

namespace runtime {

using sys::Nanoseconds;

namespace {

// Keeping a step may take as much CPU time as the step itself, and within these.
constexpr std::chrono::seconds kCaptureAtLeast{1}, kCaptureAtMost{10};

constexpr const char* kNotWanted = "the request keeps no such step";

}  // namespace

struct Cell::Capturing {
  CaptureOrder order;
  Nanoseconds most_cpu{};
  Nanoseconds for_others{};  // CPU time: nodes of other steps are written to the disk to make room
  std::atomic<bool> stop{false};
  Captured captured;

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
    captured = capture(order);
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
  order.parent = sys::OwnedFd(::fcntl(pidfd_.get(), F_DUPFD_CLOEXEC, 0));
  order.jobs = [of = household()] { return of.jobs(); };
  order.root = sys::OwnedFd(::fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
  order.scratch = scratch_directory();
  order.streams = given_;
  order.most_descriptors = open_files_;
  order.request_bytes = order_.request.size();
  order.end_of_heap = rests.end_of_heap;
  order.from = order_.state;
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
  const Job& job = *order_.job;
  const bool is_alone = result_.state || result_.why_no_state == kNotWanted;
  if (job.outputs.empty() || !is_alone) return release();
  collect_outputs_of(job);
}

// What it left has been read: pid 1 goes on.
void Cell::release() {
  const Nanoseconds now = sys::monotonic_now();
  clock_.release(now);
  shim::JobOrder release;
  release.kind = shim::OrderKind::kRelease;
  if (!sys::send_message(socket_.get(), sys::bytes_of(release))) kill_by_pidfd(pidfd_.get());
  arm(now);
}

void Cell::stop_capturing() {
  if (capturing_) capturing_->stop = true;
}

}  // namespace runtime
