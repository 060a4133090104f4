#include "runtime/loop/helpers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "sandbox/sys/thread.h"

namespace runtime {

namespace {

// The CPUs of the shard's thread, which a helper begins with; or all of them.
class Whereabouts {
 public:
  Whereabouts() { (void)::sched_getaffinity(0, sizeof near_, &near_); }

  void go(Helpers::Where where) {
    if (std::exchange(at_, where) == where) return;
    cpu_set_t everywhere;
    std::memset(&everywhere, 0xff, sizeof everywhere);
    const cpu_set_t& cpus = where == Helpers::Where::kNear ? near_ : everywhere;
    (void)::sched_setaffinity(0, sizeof cpus, &cpus);
  }

 private:
  cpu_set_t near_{};
  Helpers::Where at_ = Helpers::Where::kNear;
};

}  // namespace

sys::Nanoseconds cpu_of_this_thread() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + sys::Nanoseconds(now.tv_nsec);
}

struct Helpers::Shared {
  struct Errand {
    Where where;
    std::function<void()> work, done;
  };

  Shared(Loop& loop, std::function<void()> on_done) : wakeup(loop, std::move(on_done)) {}
  void serve();

  Wakeup wakeup;
  std::mutex mutex;
  std::condition_variable come;
  std::deque<Errand> waiting;                // under the mutex, like all that follows
  std::vector<std::function<void()>> ended;  // what is to be done in the loop
  size_t idle = 0;
  bool closing = false;
  std::vector<std::thread> threads;  // of the loop's thread alone
};

void Helpers::Shared::serve() {
  Whereabouts whereabouts;
  std::unique_lock lock(mutex);
  for (;;) {
    ++idle;
    come.wait(lock, [this] { return closing || !waiting.empty(); });
    --idle;
    if (waiting.empty()) return;
    Errand errand = std::move(waiting.front());
    waiting.pop_front();
    lock.unlock();
    whereabouts.go(errand.where);
    errand.work();
    errand.work = nullptr;  // what it owned goes here
    whereabouts.go(Where::kNear);
    lock.lock();
    if (errand.done && !closing) {
      ended.push_back(std::move(errand.done));
      wakeup.wake();
    }
  }
}

Helpers::Helpers(Loop& loop, unsigned most)
    : most_(most), shared_(std::make_unique<Shared>(loop, [this] { on_done(); })) {}

sys::Result<std::unique_ptr<Helpers>> Helpers::start(Loop& loop, unsigned most,
                                                     sys::Milliseconds patience) {
  std::unique_ptr<Helpers> helpers(new Helpers(loop, most));
  TRY(helpers->add_thread(patience));
  return helpers;
}

Helpers::~Helpers() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->closing = true;
  }
  shared_->come.notify_all();
  for (std::thread& thread : shared_->threads) thread.join();
}

sys::Result<void> Helpers::add_thread(sys::Milliseconds patience) {
  // It inherits the mask: no handler of ours is to run there.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  sys::Result<std::thread> thread =
      sys::start_thread([shared = shared_.get()] { shared->serve(); }, patience);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  shared_->threads.push_back(TRY(std::move(thread)));
  return {};
}

void Helpers::run(Where where, std::function<void()> work, std::function<void()> done) {
  bool wanting;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->waiting.push_back({where, std::move(work), std::move(done)});
    wanting = shared_->waiting.size() > shared_->idle;
  }
  shared_->come.notify_one();
  // Without room for one more, those that are there do it one after another.
  if (wanting && shared_->threads.size() < most_) (void)add_thread({});
}

void Helpers::on_done() {
  std::vector<std::function<void()>> ended;
  {
    const std::lock_guard lock(shared_->mutex);
    ended = std::exchange(shared_->ended, {});
  }
  for (const auto& done : ended) done();
}

}  // namespace runtime
