#pragma once
// Thin owners of libuv handles: the only folder that includes <uv.h>. One Loop per shard thread;
// nothing here is thread-safe but Wakeup::wake(). Callbacks run inside Loop::run().

#include <chrono>
#include <functional>
#include <memory>

struct uv_loop_s;
struct uv_timer_s;
struct uv_idle_s;
struct uv_check_s;
struct uv_poll_s;
struct uv_async_s;

namespace runtime {

// A libuv handle is freed in its close callback, never before.
template <typename Handle>
struct UvClose {
  void operator()(Handle* handle) const;
};
template <typename Handle>
using UvHandle = std::unique_ptr<Handle, UvClose<Handle>>;

class Loop {
 public:
  Loop();
  ~Loop();  // every handle must have been dropped; runs the pending closes
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();  // until stop()
  void stop();
  uv_loop_s* raw() { return loop_.get(); }

 private:
  std::unique_ptr<uv_loop_s> loop_;
};

class Timer {
 public:
  Timer(Loop& loop, std::function<void()> fired);
  Timer(const Timer&) = delete;
  // Fires once, `delay` from now; a second call moves it.
  void start(std::chrono::nanoseconds delay);
  void stop();

 private:
  std::function<void()> fired_;
  UvHandle<uv_timer_s> handle_;
};

// Calls back behind all that the loop finds ready: at the end of this turn or of the next one, for
// which the loop does not wait.
class Afterwards {
 public:
  Afterwards(Loop& loop, std::function<void()> fired);
  Afterwards(const Afterwards&) = delete;
  void start();  // once; again, while it is due, changes nothing
  void stop();

 private:
  std::function<void()> fired_;
  UvHandle<uv_idle_s> at_once_;  // while it is active, the loop waits for nothing
  UvHandle<uv_check_s> behind_;
};

// A timer that fires behind what the loop finds ready then. A loop that was held up runs its timers
// first, and would find somebody late whose bytes have come in time.
class LateTimer {
 public:
  LateTimer(Loop& loop, std::function<void()> fired);
  LateTimer(const LateTimer&) = delete;
  void start(std::chrono::nanoseconds delay);  // as Timer::start()
  void stop();

 private:
  Afterwards behind_;
  Timer timer_;
};

// Tells when a descriptor is readable (or hung up). Borrows the descriptor, which must stay open
// until stop() or destruction.
class Readable {
 public:
  Readable(Loop& loop, int fd, std::function<void()> ready);
  Readable(const Readable&) = delete;
  void start();
  void stop();
  bool active() const { return active_; }

 private:
  std::function<void()> ready_;
  UvHandle<uv_poll_s> handle_;
  bool active_ = false;
};

// The same for writing.
class Writable {
 public:
  Writable(Loop& loop, int fd, std::function<void()> ready);
  Writable(const Writable&) = delete;
  void start();
  void stop();

 private:
  std::function<void()> ready_;
  UvHandle<uv_poll_s> handle_;
};

// The one watch on a socket, for all that it may be ready for: libuv allows one per descriptor.
// Borrows the descriptor, like Readable. Must not be destroyed inside its own callback.
class SocketWatch {
 public:
  struct Ready {
    bool readable = false, writable = false;
    bool gone = false;  // the other side has closed, or the socket is broken
  };
  struct Interest {
    bool read = false, write = false, hang_up = false;
    bool operator==(const Interest&) const = default;
  };
  SocketWatch(Loop& loop, int fd, std::function<void(Ready)> ready);
  SocketWatch(const SocketWatch&) = delete;
  void want(Interest interest);  // nothing: it is left alone

 private:
  std::function<void(Ready)> ready_;
  UvHandle<uv_poll_s> handle_;
  Interest interest_;
};

// The threads of run_aside() are all started by its first call, and libuv ends the process if they
// cannot be. For when there is certainly room for them: at the start.
void start_aside(Loop& loop);

// Runs `work` on a thread of libuv's pool, and then `done` in the loop. For what may block: disks.
void run_aside(Loop& loop, std::function<void()> work, std::function<void()> done);

// Wakes the loop from another thread; several wakes may become one call.
class Wakeup {
 public:
  Wakeup(Loop& loop, std::function<void()> woken);
  Wakeup(const Wakeup&) = delete;
  void wake();

 private:
  std::function<void()> woken_;
  UvHandle<uv_async_s> handle_;
};

}  // namespace runtime
