#pragma once
// ExitOrder: which of two processes that talk with each other was the first to leave. The times at
// which two ends were noticed do not say: between the moment when the kernel closes the pipes of
// one, so that the other hears of it, and the one when it counts as ended, the other can end as
// well.
//
// inotify(7) does: a descriptor that is closed for good is entered into its queue before the pipe
// tells who listens (fs/file_table.c, __fput: fsnotify_close, then release), and the entry stays
// when all are gone. An exit closes the three standard streams one by one, and the other side may
// come in between; a program may also close one of them long before it leaves. So a side has left
// with the second of its three. That the other can only answer to what it hears, and stderr is
// closed before what it can hear (task_work_run is last in, first out), makes this exact for exits.
//
// A process that opens a stream again by /proc and closes that adds entries, so the last ones
// count; one that floods the queue makes the kernel drop entries, and nothing is known then. All
// that a program can change so is which of two failures its verdict tells of.
//
// There is one queue for the process: instances are few (128 for a user) and slow to close.
// Thread-safe.

#include <array>
#include <cstdint>
#include <optional>

namespace runtime {

class ExitOrder {
 public:
  enum class Side : uint8_t { kOne, kOther };

  // Each side reads from a pipe that the other writes to. Nothing is watched, and first() knows
  // nothing, where the host has no inotify to give.
  ExitOrder(int one_reads, int other_reads);
  ~ExitOrder();
  ExitOrder(const ExitOrder&) = delete;
  ExitOrder& operator=(const ExitOrder&) = delete;

  // The side has a description of its own of this pipe as its stderr.
  void watch_errors(Side side, int pipe);

  // The side that had left before the other had; empty unless both have left.
  std::optional<Side> first() const;

  // A pipe, and when each kind of its ends was last closed, by the count of all entries; 0: never.
  struct Watched {
    int watch = -1;
    uint64_t reader = 0, writer = 0;
  };

 private:
  static size_t index(Side side) { return static_cast<size_t>(side); }
  uint64_t left(Side side) const;

  std::array<Watched, 2> input_, errors_;  // by side
};

}  // namespace runtime
