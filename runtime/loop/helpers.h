#pragma once
// Threads beside a shard's own, for what jobs make it walk: the shard's thread keeps deadlines, and
// nobody can say how long such a walk takes. Used from the loop's thread alone.

#include <functional>
#include <memory>

#include "runtime/loop/loop.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace runtime {

sys::Nanoseconds cpu_of_this_thread();

class Helpers {
 public:
  // `most` threads at once. One is started here, so that there always is one; `patience`: see
  // sys::start_thread().
  static sys::Result<std::unique_ptr<Helpers>> start(Loop& loop, unsigned most,
                                                     sys::Milliseconds patience);
  // All work is done first; what was to be done behind it in the loop is not.
  ~Helpers();

  // Long work goes to any CPU, so that the shard's thread has its own to itself. Short work that
  // somebody waits for is done sooner on that one: to wake another CPU takes tens of microseconds.
  enum class Where { kNear, kAnywhere };

  // So many bytes are read, compared or written before another thread would have begun.
  static constexpr size_t kShort = size_t{64} << 10;

  // `work` on another thread, and then `done`, which may be empty, in the loop. `work` owns what it
  // uses. Of different jobs it runs side by side, so that none has to wait for another's.
  void run(Where where, std::function<void()> work, std::function<void()> done);

 private:
  struct Shared;
  Helpers(Loop& loop, unsigned most);
  sys::Result<void> add_thread(sys::Milliseconds patience);
  void on_done();

  unsigned most_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace runtime
