#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "runtime/host/proc.h"

namespace {

// A thread that stays until it is told to end.
class Thread {
 public:
  Thread() {
    thread_ = std::thread([this] {
      tid_ = ::gettid();
      tid_.notify_all();
      ends_.wait(false);
    });
    tid_.wait(0);
  }
  ~Thread() {
    ends_ = true;
    ends_.notify_all();
    thread_.join();
  }

  int tid() const { return tid_; }

 private:
  std::atomic<int> tid_ = 0;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

bool lists(const std::vector<int>& all, int tid) {
  return std::count(all.begin(), all.end(), tid) == 1;
}

}  // namespace

TEST_CASE("the threads of a process are listed, each once", "[proc]") {
  const Thread first, second;
  const std::vector<int> all = runtime::threads_of(::getpid());
  for (int tid : {::getpid(), first.tid(), second.tid()}) {
    CAPTURE(tid);
    CHECK(lists(all, tid));
  }
}

TEST_CASE("a thread that began long after its process is listed, too", "[proc]") {
  for (int i = 0; i < 10'000; ++i) std::thread([] {}).join();  // each has a number
  const Thread late;
  CHECK(lists(runtime::threads_of(::getpid()), ::getpid()));
  CHECK(lists(runtime::threads_of(::getpid()), late.tid()));
}

TEST_CASE("how far a process has come can be told from where it was before", "[proc]") {
  const std::vector<int> here{::getpid()};
  const runtime::Progress before = runtime::progress_of(here);
  if (before.ran.count() == 0) {
    WARN("SKIPPED, the kernel does not count it");
    return;
  }
  const runtime::Progress since =
      runtime::progress_of(here, {::getpid(), before.ran, before.waited});
  const runtime::Progress whole = runtime::progress_of(here);
  CHECK(since.ran.count() >= 0);
  CHECK(since.ran <= whole.ran - before.ran);
  CHECK(since.waited <= whole.waited);  // the longest, perhaps of another thread
  // Of another thread that is no longer there, nothing is taken away.
  CHECK(runtime::progress_of(here, {::getpid() + 1, before.ran, {}}).ran >= before.ran);
}
