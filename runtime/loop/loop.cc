#include "runtime/loop/loop.h"

#include <signal.h>
#include <uv.h>

#include <algorithm>

#include "sandbox/sys/result.h"

namespace runtime {

template <typename Handle>
void UvClose<Handle>::operator()(Handle* handle) const {
  uv_close(reinterpret_cast<uv_handle_t*>(handle),
           [](uv_handle_t* closed) { delete reinterpret_cast<Handle*>(closed); });
}
template struct UvClose<uv_timer_s>;
template struct UvClose<uv_idle_s>;
template struct UvClose<uv_check_s>;
template struct UvClose<uv_poll_s>;
template struct UvClose<uv_async_s>;

Loop::Loop() : loop_(std::make_unique<uv_loop_s>()) { VERIFY(uv_loop_init(loop_.get()) == 0); }

Loop::~Loop() {
  uv_run(loop_.get(), UV_RUN_DEFAULT);
  VERIFY(uv_loop_close(loop_.get()) == 0);
}

void Loop::run() { uv_run(loop_.get(), UV_RUN_DEFAULT); }
void Loop::stop() { uv_stop(loop_.get()); }

Timer::Timer(Loop& loop, std::function<void()> fired)
    : fired_(std::move(fired)), handle_(new uv_timer_s) {
  VERIFY(uv_timer_init(loop.raw(), handle_.get()) == 0);
  handle_->data = this;
}

void Timer::start(std::chrono::nanoseconds delay) {
  // Rounded up: a deadline must have passed when its timer fires.
  auto ms =
      std::chrono::ceil<std::chrono::milliseconds>(std::max(delay, std::chrono::nanoseconds(0)));
  uv_update_time(handle_->loop);
  uv_timer_start(
      handle_.get(), [](uv_timer_t* t) { static_cast<Timer*>(t->data)->fired_(); },
      static_cast<uint64_t>(ms.count()), 0);
}

void Timer::stop() { uv_timer_stop(handle_.get()); }

Afterwards::Afterwards(Loop& loop, std::function<void()> fired)
    : fired_(std::move(fired)), at_once_(new uv_idle_s), behind_(new uv_check_s) {
  VERIFY(uv_idle_init(loop.raw(), at_once_.get()) == 0);
  VERIFY(uv_check_init(loop.raw(), behind_.get()) == 0);
  behind_->data = this;
}

void Afterwards::start() {
  uv_idle_start(at_once_.get(), [](uv_idle_t*) {});
  uv_check_start(behind_.get(), [](uv_check_t* check) {
    auto* self = static_cast<Afterwards*>(check->data);
    self->stop();
    self->fired_();
  });
}

void Afterwards::stop() {
  uv_idle_stop(at_once_.get());
  uv_check_stop(behind_.get());
}

LateTimer::LateTimer(Loop& loop, std::function<void()> fired)
    : behind_(loop, std::move(fired)), timer_(loop, [this] { behind_.start(); }) {}

void LateTimer::start(std::chrono::nanoseconds delay) {
  stop();
  timer_.start(delay);
}

void LateTimer::stop() {
  timer_.stop();
  behind_.stop();
}

Readable::Readable(Loop& loop, int fd, std::function<void()> ready)
    : ready_(std::move(ready)), handle_(new uv_poll_s) {
  VERIFY(uv_poll_init(loop.raw(), handle_.get(), fd) == 0);
  handle_->data = this;
}

void Readable::start() {
  active_ = true;
  uv_poll_start(handle_.get(), UV_READABLE | UV_DISCONNECT, [](uv_poll_t* p, int status, int) {
    auto* self = static_cast<Readable*>(p->data);
    // libuv has stopped it, but an error on a socket is one message to its reader, before others.
    if (status < 0) self->start();
    self->ready_();
  });
}

void Readable::stop() {
  active_ = false;
  uv_poll_stop(handle_.get());
}

Writable::Writable(Loop& loop, int fd, std::function<void()> ready)
    : ready_(std::move(ready)), handle_(new uv_poll_s) {
  VERIFY(uv_poll_init(loop.raw(), handle_.get(), fd) == 0);
  handle_->data = this;
}

void Writable::start() {
  uv_poll_start(handle_.get(), UV_WRITABLE | UV_DISCONNECT,
                [](uv_poll_t* p, int, int) { static_cast<Writable*>(p->data)->ready_(); });
}

void Writable::stop() { uv_poll_stop(handle_.get()); }

SocketWatch::SocketWatch(Loop& loop, int fd, std::function<void(Ready)> ready)
    : ready_(std::move(ready)), handle_(new uv_poll_s) {
  VERIFY(uv_poll_init(loop.raw(), handle_.get(), fd) == 0);
  handle_->data = this;
}

void SocketWatch::want(Interest interest) {
  if (interest == interest_) return;
  interest_ = interest;
  const int events = (interest.read ? UV_READABLE : 0) | (interest.write ? UV_WRITABLE : 0) |
                     (interest.hang_up ? UV_DISCONNECT : 0);
  if (events == 0) {
    uv_poll_stop(handle_.get());
    return;
  }
  uv_poll_start(handle_.get(), events, [](uv_poll_t* p, int status, int events_seen) {
    auto* self = static_cast<SocketWatch*>(p->data);
    if (status < 0) self->interest_ = {};  // libuv has stopped it
    self->ready_({.readable = (events_seen & UV_READABLE) != 0,
                  .writable = (events_seen & UV_WRITABLE) != 0,
                  .gone = status < 0 || (events_seen & UV_DISCONNECT) != 0});
  });
}

void run_aside(Loop& loop, std::function<void()> work, std::function<void()> done) {
  struct Errand {
    uv_work_t request{};
    std::function<void()> work, done;
  };
  auto* errand = new Errand{{}, std::move(work), std::move(done)};
  errand->request.data = errand;
  const int queued = uv_queue_work(
      loop.raw(), &errand->request,
      [](uv_work_t* request) { static_cast<Errand*>(request->data)->work(); },
      [](uv_work_t* request, int) {
        std::unique_ptr<Errand> ended(static_cast<Errand*>(request->data));
        ended->done();
      });
  VERIFY(queued == 0);
}

void start_aside(Loop& loop) {
  // They inherit it, and live until the process ends: no handler is to run there when what it
  // writes to is gone.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  run_aside(
      loop, [] {}, [] {});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Wakeup::Wakeup(Loop& loop, std::function<void()> woken)
    : woken_(std::move(woken)), handle_(new uv_async_s) {
  VERIFY(uv_async_init(loop.raw(), handle_.get(),
                       [](uv_async_t* a) { static_cast<Wakeup*>(a->data)->woken_(); }) == 0);
  handle_->data = this;
}

void Wakeup::wake() { uv_async_send(handle_.get()); }

}  // namespace runtime
