#pragma once
// FakeEngine: answers jobs on a thread of its own, after a delay or when it is told to. What a job
// gets is written in its source: "raise NAME" an exception of that name, "fail" SandboxError,
// "hang" nothing until cancelled; anything else OK, with the source as its stdout. "short" and
// "long" say that they took 100 us and 100 ms, the others say nothing of their time.

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/engine/engine.h"

namespace cli {

class FakeEngine : public runtime::Engine {
 public:
  explicit FakeEngine(unsigned workers = 2) : workers_(workers), thread_([this] { work(); }) {}
  ~FakeEngine() override {
    {
      std::lock_guard lock(mutex_);
      paused_ = false;
      ending_ = true;
    }
    cancel_all();
    thread_.join();
  }

  void submit(runtime::Job job, std::function<void(runtime::JobResult)> done) override {
    std::lock_guard lock(mutex_);
    submitted_.push_back(job.id);
    tenants_.push_back(job.tenant);
    queue_.push_back({std::move(job), std::move(done)});
    changed_.notify_all();
  }
  unsigned workers() const override { return workers_; }
  void cancel_all() override {
    std::deque<Order> withdrawn;
    {
      std::lock_guard lock(mutex_);
      withdrawn.swap(queue_);
      for (Order& order : hung_) withdrawn.push_back(std::move(order));
      hung_.clear();
    }
    for (Order& order : withdrawn) order.done(result_of(order.job, runtime::Outcome::kCancelled));
    changed_.notify_all();
  }

  // Cancels the withdrawn jobs that wait or hang.
  void cancel_withdrawn() override {
    std::deque<Order> withdrawn;
    {
      std::lock_guard lock(mutex_);
      for (std::deque<Order>* orders : {&queue_, &hung_}) {
        auto gone = std::stable_partition(orders->begin(), orders->end(), [](const Order& order) {
          return !order.job.is_withdrawn();
        });
        std::move(gone, orders->end(), std::back_inserter(withdrawn));
        orders->erase(gone, orders->end());
      }
    }
    for (Order& order : withdrawn) order.done(result_of(order.job, runtime::Outcome::kCancelled));
  }
  Standing standing() const override { return {}; }

  void set_delay(sys::Milliseconds delay) {
    std::lock_guard lock(mutex_);
    delay_ = delay;
  }
  void pause() {
    std::lock_guard lock(mutex_);
    paused_ = true;
  }
  void unpause() {
    std::lock_guard lock(mutex_);
    paused_ = false;
    changed_.notify_all();
  }
  std::vector<std::string> tenants() const {
    std::lock_guard lock(mutex_);
    return tenants_;
  }
  std::vector<std::string> submitted() const {
    std::lock_guard lock(mutex_);
    return submitted_;
  }
  // Blocks until so many jobs have come in.
  void await(size_t jobs) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, jobs] { return submitted_.size() >= jobs; });
  }

 private:
  struct Order {
    runtime::Job job;
    std::function<void(runtime::JobResult)> done;
  };

  static runtime::JobResult result_of(const runtime::Job& job, runtime::Outcome outcome) {
    runtime::JobResult result;
    result.id = job.id;
    result.verdict.outcome = outcome;
    return result;
  }

  static runtime::JobResult answer(const runtime::Job& job) {
    if (job.source == "fail") return result_of(job, runtime::Outcome::kSandboxError);
    bool raises = job.source.starts_with("raise ");
    runtime::JobResult result =
        result_of(job, raises ? runtime::Outcome::kException : runtime::Outcome::kOk);
    if (raises) result.verdict.exception_type = job.source.substr(6);
    result.out.bytes = job.source;
    result.exit = runtime::ExitStatus{};
    if (job.source == "short") result.timing.run = 100;
    if (job.source == "long") result.timing.run = 100'000;
    return result;
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || (!paused_ && !queue_.empty()); });
      if (queue_.empty()) {
        if (ending_) return;
        continue;
      }
      if (delay_.count() > 0) changed_.wait_for(lock, delay_, [this] { return ending_; });
      if (queue_.empty() || paused_) continue;
      Order order = std::move(queue_.front());
      queue_.pop_front();
      if (order.job.source == "hang" && !ending_) {
        hung_.push_back(std::move(order));
        continue;
      }
      lock.unlock();
      order.done(answer(order.job));
      lock.lock();
    }
  }

  unsigned workers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Order> queue_, hung_;
  std::vector<std::string> submitted_, tenants_;
  sys::Milliseconds delay_{0};
  bool paused_ = false, ending_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace cli
