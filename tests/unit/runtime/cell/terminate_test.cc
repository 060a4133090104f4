#include "runtime/cell/terminate.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace runtime;

namespace {

// This thread, and the children that it starts meanwhile, on one CPU.
class OneCpu {
 public:
  OneCpu() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  ~OneCpu() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

// A child in the lowest class.
class Child {
 public:
  template <typename Body>
  explicit Child(Body body) : pid_(::fork()) {
    if (pid_ != 0) return;
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_IDLE, &none);
    body();
    ::_exit(0);
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;

  int pid() const { return pid_; }
  int policy() const { return ::sched_getscheduler(pid_) & ~SCHED_RESET_ON_FORK; }
  void await_policy(int wanted) const {
    while (policy() != wanted) ::sched_yield();
  }
  std::vector<HeldProcess> held() const { return hold_processes(::getpid(), {pid_}); }

 private:
  int pid_;
};

[[noreturn]] void spin() {
  for (std::atomic<unsigned> turns = 0;; ++turns) {
  }
}

// A zombie from then on.
void await_end(const Child& child) {
  const std::vector<HeldProcess> held = child.held();
  pollfd ended{held.at(0).pidfd.get(), POLLIN, 0};
  REQUIRE(::poll(&ended, 1, 10'000) == 1);
}

struct Turns {
  Loop loop;
  std::unique_ptr<Terminator> terminator = std::make_unique<Terminator>(loop);
  // Until all that was due has been done.
  void run() {
    Timer end(loop,
              [&] { terminator->done() ? loop.stop() : end.start(std::chrono::milliseconds(1)); });
    end.start(std::chrono::milliseconds(1));
    loop.run();
  }
};

}  // namespace

TEST_CASE("the dying leave the lowest class", "[proc]") {
  if (::geteuid() != 0) {
    WARN("SKIPPED: needs CAP_SYS_NICE");
    return;
  }
  const OneCpu here;
  const Child child(spin);
  child.await_policy(SCHED_IDLE);
  Turns turns;

  CHECK(turns.terminator->end(child.held()));
  turns.run();
  await_end(child);
  CHECK(child.policy() != SCHED_IDLE);
}

TEST_CASE("all that are due are killed before anybody is raised", "[proc]") {
  if (::geteuid() != 0) {
    WARN("SKIPPED: needs CAP_SYS_NICE");
    return;
  }
  const OneCpu here;
  const Child first(spin), second(spin), third(spin), fourth(spin);
  for (const Child* child : {&first, &second, &third, &fourth}) child->await_policy(SCHED_IDLE);
  Turns turns;
  bool rest_was_seen_to = false;

  for (const Child* child : {&first, &second, &third, &fourth}) {
    CHECK(turns.terminator->end(child->held()));
    turns.terminator->afterwards([&] {
      rest_was_seen_to = true;
      for (const Child* each : {&first, &second, &third, &fourth})
        CHECK(each->policy() == SCHED_IDLE);
    });
    CHECK_FALSE(rest_was_seen_to);
  }
  turns.run();

  CHECK(rest_was_seen_to);
  for (const Child* child : {&first, &second, &third, &fourth}) {
    await_end(*child);
    CHECK(child->policy() == SCHED_OTHER);  // a crowd: none of them has a reservation
  }
}

TEST_CASE("more are raised than one turn has room for", "[proc]") {
  if (::geteuid() != 0) {
    WARN("SKIPPED: needs CAP_SYS_NICE");
    return;
  }
  const OneCpu here;
  std::list<Child> crowd;
  Turns turns;
  for (int i = 0; i < 40; ++i) crowd.emplace_back(spin).await_policy(SCHED_IDLE);

  for (const Child& child : crowd) CHECK(turns.terminator->end(child.held()));
  turns.run();

  for (const Child& child : crowd) {
    await_end(child);
    CHECK(child.policy() == SCHED_OTHER);
  }
}

TEST_CASE("nothing is reserved for the dead", "[proc]") {
  const OneCpu here;
  const Child child([] {});
  await_end(child);
  Turns turns;

  CHECK_FALSE(turns.terminator->end(child.held()));
  turns.run();
  CHECK(child.policy() == SCHED_IDLE);
}

TEST_CASE("nothing is reserved for a process whose first thread is dead", "[proc]") {
  const OneCpu here;
  const Child child([] {
    std::thread(spin).detach();
    ::syscall(SYS_exit, 0);  // of this thread alone
  });
  const std::string stat = "/proc/" + std::to_string(child.pid()) + "/stat";
  for (std::string state; state != "Z";) {
    std::string number, name;
    std::ifstream(stat) >> number >> name >> state;
    ::sched_yield();
  }

  Turns turns;

  CHECK(turns.terminator->end(child.held()));
  turns.run();
  await_end(child);
  CHECK(child.policy() != SCHED_DEADLINE);
}

TEST_CASE("a process of somebody else is not held", "[proc]") {
  const Child child(spin);
  CHECK(hold_processes(child.pid(), {child.pid()}).empty());
  CHECK(hold_processes(::getpid(), {1 << 22}).empty());  // above what pids can be
}
