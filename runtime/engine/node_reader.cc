#include "runtime/engine/node_reader.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <iterator>

#include "sandbox/sys/thread.h"

namespace runtime {

sys::Result<void> NodeReader::run(Attempt attempt) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) {
    sigset_t all, before;  // no handler of ours is to run there
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    sys::Result<std::thread> started = sys::start_thread([this] { serve(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    thread_ = TRY(std::move(started));
  }
  waiting_.push_back({std::move(attempt), sys::monotonic_now() + kPatience});
  come_.notify_one();
  return {};
}

void NodeReader::look_again() {
  const std::lock_guard lock(mutex_);
  ++looks_;
  if (stuck_.empty()) return;
  std::move(stuck_.begin(), stuck_.end(), std::back_inserter(waiting_));
  stuck_.clear();
  come_.notify_one();
}

void NodeReader::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
    std::move(stuck_.begin(), stuck_.end(), std::back_inserter(waiting_));
    stuck_.clear();
  }
  come_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// For work, or until the first of those that are stuck has waited long enough.
void NodeReader::wait(std::unique_lock<std::mutex>& lock) {
  const auto has_work = [this] { return is_closing_ || !waiting_.empty(); };
  if (stuck_.empty()) return come_.wait(lock, has_work);
  const auto first =
      std::min_element(stuck_.begin(), stuck_.end(),
                       [](const Errand& a, const Errand& b) { return a.until < b.until; });
  const sys::Nanoseconds left = first->until - sys::monotonic_now();
  if (come_.wait_for(lock, std::max(left, sys::Nanoseconds(0)), has_work) || stuck_.empty()) return;
  std::move(stuck_.begin(), stuck_.end(), std::back_inserter(waiting_));
  stuck_.clear();
}

void NodeReader::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wait(lock);
    if (waiting_.empty()) {
      if (is_closing_) return;
      continue;
    }
    Errand errand = std::move(waiting_.front());
    waiting_.pop_front();
    const uint64_t looks = looks_;
    const bool is_last = is_closing_ || sys::monotonic_now() >= errand.until;
    lock.unlock();
    const bool is_done = errand.attempt(is_last) || is_last;
    if (is_done) errand.attempt = nullptr;  // what it owned goes here
    lock.lock();
    if (!is_done && looks != looks_)
      waiting_.push_back(std::move(errand));
    else if (!is_done)
      stuck_.push_back(std::move(errand));
  }
}

}  // namespace runtime
