#pragma once
// Capacity: how many jobs the machine lets the pool have under way at once. Begins with all that
// the pool was made for. When the kernel refuses a process, memory or a descriptor it falls to what
// was working then, and comes back one by one while nothing is refused; each step is told in one
// line ("pool: 8 -> 3 cells, EAGAIN on fork"). Shared by the shards; thread-safe; the time is an
// argument. What becomes of the job that was refused is Shortage's (shortage.h).

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "sandbox/sys/units.h"

namespace runtime {

// The machine, or a limit around zygo, has no more to give now: EAGAIN, ENOMEM, EMFILE, ENFILE.
bool is_shortage(int error);

class Capacity {
 public:
  using Log = std::function<void(const std::string&)>;  // may be empty; any thread

  Capacity(unsigned cells, Log log);
  ~Capacity();  // tells what has not been told yet

  // A place for one job more, until leave().
  bool enter(sys::Nanoseconds now);
  // The other side of a conversation: the first one waits for it in its place.
  void enter_anyway();
  void leave();

  void serve();  // a job was run

  // One of those inside was refused something; it is about to leave. `step`: at which station;
  // `before`: how often it was refused something alone.
  void shrink(std::string_view step, int error, sys::Nanoseconds now, unsigned before = 0);

  bool is_narrow() const;
  bool is_alone() const;  // who is inside
  unsigned width() const;
  // For a minute, not even a single job could be run: waiting longer is no help.
  bool is_hopeless(sys::Nanoseconds now) const;
  // From now: when a shard that was not let in does well to ask again, even if nobody leaves.
  sys::Nanoseconds patience(sys::Nanoseconds now) const;
  // Tells of a step once it is sure which ones belong to it. True: it does not know yet.
  bool settle(sys::Nanoseconds now);

 private:
  std::string take_line();
  void tell(const std::string& line) const;

  Log log_;
  mutable std::mutex mutex_;
  const unsigned full_;
  unsigned width_, inside_ = 0;
  unsigned told_;  // the width that the log knows
  std::string cause_;
  sys::Nanoseconds tell_at_{}, closed_until_{}, grow_at_{}, pause_;
  sys::Nanoseconds starved_since_{}, starved_at_{};  // 0: a job was run
  unsigned refusals_ = 0;                            // since then
  sys::Nanoseconds shrunk_at_{};
  bool has_grown_ = false;  // since it shrank last
};

}  // namespace runtime
