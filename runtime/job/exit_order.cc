#include "runtime/job/exit_order.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "sandbox/sys/fd.h"

namespace runtime {

namespace {

using Watched = ExitOrder::Watched;

class Queue {
 public:
  static Queue& instance() {
    static Queue queue;
    return queue;
  }

  // From here on entries of the pipe are this one's: a cell's stderr may have been another's
  // before.
  void watch(int pipe, Watched& watched) {
    const std::string name = "/proc/self/fd/" + std::to_string(pipe);
    std::lock_guard lock(mutex_);
    take_entries();
    watched = {};
    watched.watch =
        ::inotify_add_watch(queue_.get(), name.c_str(), IN_CLOSE_WRITE | IN_CLOSE_NOWRITE);
    if (watched.watch >= 0) watched_[watched.watch] = &watched;
  }

  void forget(const Watched& watched) {
    std::lock_guard lock(mutex_);
    take_entries();
    auto found = watched_.find(watched.watch);
    if (found == watched_.end() || found->second != &watched) return;
    watched_.erase(found);
    ::inotify_rm_watch(queue_.get(), watched.watch);  // fails where the pipe has gone
  }

  // Brings all that is watched up to date.
  void look() {
    std::lock_guard lock(mutex_);
    take_entries();
  }

 private:
  void take_entries() {
    alignas(inotify_event) std::array<char, 4096> entries;
    for (;;) {
      const ssize_t n = ::read(queue_.get(), entries.data(), entries.size());
      if (n <= 0) return;
      for (size_t at = 0; at < static_cast<size_t>(n);) {
        inotify_event entry;
        std::memcpy(&entry, entries.data() + at, sizeof entry);
        at += sizeof entry + entry.len;
        take(entry);
      }
    }
  }

  void take(const inotify_event& entry) {
    ++entries_;
    auto found = watched_.find(entry.wd);
    if (found == watched_.end()) return;
    if (entry.mask & IN_CLOSE_NOWRITE) found->second->reader = entries_;
    if (entry.mask & IN_CLOSE_WRITE) found->second->writer = entries_;
  }

  const sys::OwnedFd queue_{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
  std::mutex mutex_;
  std::map<int, Watched*> watched_;
  uint64_t entries_ = 0;
};

}  // namespace

ExitOrder::ExitOrder(int one_reads, int other_reads) {
  Queue::instance().watch(one_reads, input_[index(Side::kOne)]);
  Queue::instance().watch(other_reads, input_[index(Side::kOther)]);
}

ExitOrder::~ExitOrder() {
  for (const auto* each : {&input_, &errors_}) {
    for (const Watched& watched : *each) Queue::instance().forget(watched);
  }
}

void ExitOrder::watch_errors(Side side, int pipe) {
  Queue::instance().watch(pipe, errors_[index(side)]);
}

uint64_t ExitOrder::left(Side side) const {
  const Watched& in = input_[index(side)];
  const Watched& out = input_[1 - index(side)];
  const Watched& errors = errors_[index(side)];
  if (in.reader == 0 || out.writer == 0) return 0;
  if (errors.writer == 0) return std::max(in.reader, out.writer);
  std::array<uint64_t, 3> closed{in.reader, out.writer, errors.writer};
  std::ranges::sort(closed);
  return closed[1];
}

std::optional<ExitOrder::Side> ExitOrder::first() const {
  Queue::instance().look();
  const uint64_t one = left(Side::kOne), other = left(Side::kOther);
  if (one == 0 || other == 0) return std::nullopt;
  return one < other ? Side::kOne : Side::kOther;
}

}  // namespace runtime
