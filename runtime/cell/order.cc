// The order of a job to its cell: limits, descriptors, request.

#include <algorithm>
#include <vector>

#include "runtime/cell/cell.h"
#include "runtime/cell/rules/cpu_fence.h"
#include "runtime/sessions/node_store.h"
#include "sandbox/supervisor.h"
#include "sandbox/sys/socket.h"

namespace runtime {

using sandbox::Layer;
using sys::Result;

namespace {

// An interpreter with its modules holds this much private writable memory before the job begins;
// added to RLIMIT_DATA, which counts it.
constexpr sys::Bytes kImageData = sys::mebibytes(96);
// A program may have so many bytes of mappings without ever writing to them, stacks of threads
// aside.
constexpr sys::Bytes kEmpty = sys::mebibytes(1024);
constexpr sys::Bytes kUsualStack = sys::mebibytes(8);
// RLIMIT_NPROC stands behind the count of processes, so that the count comes first.
constexpr uint64_t kBehindTheCount = 8;

// To read all pages of a smaller node again is sooner done than to protect them.
constexpr uint64_t kLargeNode = uint64_t{1} << 20;

shim::Habit habit_of(const Job& job) {
  const bool numpy = job.source.find("numpy") != job.source.npos;
  if (job.mode == shim::Mode::kCall) {
    return numpy ? shim::Habit::kNumpyCall : shim::Habit::kCall;
  }
  return numpy ? shim::Habit::kNumpyScript : shim::Habit::kScript;
}

void set_execution(const Execution& wanted, shim::JobOrder& order) {
  static_assert(static_cast<int>(Execution::Errors::kNowhere) ==
                static_cast<int>(shim::Errors::kNowhere));
  order.errors = static_cast<shim::Errors>(wanted.errors);
  order.program = {wanted.file_size, wanted.stack, wanted.address_space};
}

}  // namespace

// Memory that the limit will not let a program use is refused when the program asks for it, and not
// page by page. Mappings that stay empty count, too, and so there is room for those of honest
// programs.
sys::Bytes Cell::most_data(const Limits& limits) const {
  const uint64_t stacks = limits.pids * std::max(limits.stack, kUsualStack).count;
  const uint64_t inherited = std::max(inherited_data_, kImageData).count;
  return {inherited + limits.memory.count + stacks + kEmpty.count};
}

Result<void> Cell::send_order(bool goes_on) {
  const Limits& limits = order_.job->limits;
  const sys::OwnedFd request = TRY(request_.put(order_.request));
  shim::JobOrder order;
  order.has_stdin = order_.stdin_fd >= 0;
  order.goes_on = goes_on;
  order.cpu_of_children_ns = process_.rested.cpu_of_children.count();
  order.nonce = nonce_;
  order.request_bytes = order_.request.size();
  order.value_bytes = limits.value.count;
  order.rlimits.open_files = limits.open_files;
  const bool has_our_uid = plan_.ids.job == 0 && !plan_.ids.owner;
  if (has_our_uid) {
    order.rlimits.open_files =
        std::min(order.rlimits.open_files, sandbox::most_open_files_beside_us());
  }
  order.rlimits.cpu_seconds = cpu_fence_of(limits.cpu);
  // Where no cgroup counts, the second fence is the first.
  // The kernel counts by uid (and user namespace): where cells share one, it would count them all.
  if (!layers_.has(Layer::kCgroupPids) && !plan_.variant.shared_uid) {
    order.rlimits.processes = limits.pids + kBehindTheCount;
  }
  if (!layers_.has(Layer::kCgroupMemory)) {
    order.rlimits.data = sys::Bytes{limits.memory.count + kImageData.count};
    // Files in memory, of the scratch or by memfd_create, are bounded one by one at least.
    order.rlimits.file_size = sys::Bytes{std::min(limits.memory.count, limits.disk.count)};
  } else if (plan_.scratch) {
    order.rlimits.file_size = limits.disk;
  }
  if (limits.file.count > 0) {
    const uint64_t without = order.rlimits.file_size.value_or(limits.file).count;
    order.rlimits.file_size = sys::Bytes{std::min(without, limits.file.count)};
  }
  // Programs of other languages, and compilers' sanitizers, reserve far more than they use.
  const bool is_python = !plan_.executes && !plan_.shape.runs_programs();
  if (layers_.has(Layer::kCgroupMemory) && is_python) order.rlimits.data = most_data(limits);
  // A job that may be read may be dumped, too: a limit of one byte stops even a core_pattern that
  // is a pipe (core(5); fs/coredump.c takes it for a dump of the dumper).
  const bool executes = plan_.executes || plan_.shape.profile >= sandbox::Profile::kSubprocess;
  if (plan_.variant.dumpable || executes) order.rlimits.core = sys::Bytes{1};
  if (limits.stack.count > 0) order.rlimits.stack = limits.stack;
  rlimits_ = order.rlimits;
  order.has_stdout = order_.stdout_fd >= 0;
  order.has_stderr = order_.stderr_fd >= 0;
  order.has_program = order_.program_fd >= 0;
  order.has_request = request.get() >= 0;
  order.comes_first = order_.comes_first;
  order.tells_company = order_.job->fixed.on;
  order.rests = order_.job->is_step();
  order.stands_by = order_.stands_by;
  // A filter around us would end who asks.
  const bool may_track = lets_stay() && plan_.variant.masked.empty();
  const bool is_large = order_.state && order_.state->bytes_of_all() >= kLargeNode;
  order.tracks =
      may_track && !goes_on && order.rests && order_.job->keep && (order_.may_stay || is_large);
  order.hold = !order.rests && !order_.job->outputs.empty();
  if (order.rests) given_ = streams();  // whoever lent them may close them from here on
  if (order_.state && !goes_on)
    order.node_files = static_cast<uint32_t>(order_.state->files.size());
  order.asks_again = order.tracks && is_large;
  process_.will_ask = order.tracks;
  process_.will_tell = order.asks_again;
  order.seed = order_.job->seed;
  order.habit = habit_of(*order_.job);
  if (order_.job->execution) set_execution(*order_.job->execution, order);
  constexpr size_t kOthers = 5;
  static_assert(kOthers + shim::state::kMostFiles <= sys::kMaxDescriptors);
  std::vector<int> fds;
  for (int fd :
       {order_.stdin_fd, order_.stdout_fd, order_.stderr_fd, order_.program_fd, request.get()}) {
    if (fd >= 0) fds.push_back(fd);
  }
  if (order_.state && !goes_on) {
    for (const auto& each : order_.state->files) fds.push_back(each->file.get());
  }
  return sys::send_message(socket_.get(), sys::bytes_of(order), fds);
}

}  // namespace runtime
