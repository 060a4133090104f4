#pragma once
// InteractivePair: two runs that talk to each other, the output of each being the input of the
// other. Both begin when both have a cell. Thread-safe: the two may be on different shards.

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/job/exit_order.h"
#include "runtime/job/waiting.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace runtime {

class InteractivePair {
 public:
  enum class Side : unsigned { kProgram, kInteractor };
  enum class Fate : uint8_t {
    kWaiting,  // for the other
    kTogether,
    kAlone,  // the other will never come
  };

  static sys::Result<std::shared_ptr<InteractivePair>> create();
  // Only the program's output is the interactor's input; its own input and the interactor's output
  // are as in a run of its own.
  static sys::Result<std::shared_ptr<InteractivePair>> one_way();

  bool is_one_way() const { return !exit_order_; }

  // A side has its cell. `wake` is called, once and on any thread, when a fate that was kWaiting is
  // known.
  Fate arrive(Side side, std::function<void()> wake);
  // A side has ended without running; nothing happens when both have begun.
  void leave();
  // A side that has arrived, or has not, has lost its cell and will come again. False: both were
  // there, and the other is about to begin.
  bool retreat(Side side);
  Fate fate() const;

  // The descriptor that the cell of a side gets, until sent(); -1: none of the pair's.
  int stdin_of(Side side) const { return ends_[index(side)].stdin_fd.get(); }
  int stdout_of(Side side) const { return ends_[index(side)].stdout_fd.get(); }
  // A description of a cell's stderr, of which `reader` is the other end, that only this side has:
  // its end shows when the side leaves. Empty: the cell's own will do.
  sys::OwnedFd stderr_of(Side side, int reader);
  // Its cell has them, or never will. From here on only its processes hold them, so that each side
  // sees the other's end.
  void sent(Side side) { ends_[index(side)] = {}; }
  // A side runs: `waiting` tells, on any thread, how long it has waited for a CPU until now.
  void begin(Side side, std::function<Waiting()> waiting);
  // It has ended.
  void end(Side side) { begin(side, nullptr); }
  // How long the other side has: time for which this one could not go on.
  Waiting waiting_of_other(Side side) const;
  // When both have ended: who left the conversation first, if the kernel has kept it.
  std::optional<Side> first_to_leave() const;

 private:
  struct Ends {
    sys::OwnedFd stdin_fd, stdout_fd;
  };
  static size_t index(Side side) { return static_cast<size_t>(side); }

  std::array<Ends, 2> ends_;
  std::optional<ExitOrder> exit_order_;
  mutable std::mutex mutex_;
  std::array<bool, 2> here_{};
  bool left_ = false;
  std::function<void()> wake_;
  std::array<std::function<Waiting()>, 2> waiting_;
};

}  // namespace runtime
