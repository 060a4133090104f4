// Groups of the running kernel. Processes that are meant to hit a limit join the limited group
// first; nothing outside it can be the victim.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "sandbox/cgroup/cgroup.h"
#include "sandbox/sys/file.h"

using sandbox::CellCgroup;
using sandbox::CgroupRoot;
using sandbox::Layer;

namespace {

// A root under a name of its own per test case, so that tests can run in parallel.
CgroupRoot root_for(const char* test) {
  auto own = sandbox::detect_own_cgroups();
  REQUIRE(own.ok());
  return CgroupRoot::create_in(*own, "zygo-" + std::to_string(::getpid()) + "-" + test);
}

bool skip_without(const CgroupRoot& root, Layer layer) {
  if (root.layers().has(layer)) return false;
  WARN("SKIPPED, no " << name_of(layer) << ": " << root.obstacle(layer));
  return true;
}

bool join(const CellCgroup& cell) {
  for (int fd : cell.join_fds()) {
    if (::write(fd, "0", 1) != 1) return false;
  }
  return true;
}

// Runs `body` in a child that has joined the cell; returns the wait status.
template <typename Body>
int run_inside(const CellCgroup& cell, Body body) {
  pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    (void)sys::write_control("/proc/self/oom_score_adj", "1000");
    ::_exit(join(cell) ? body() : 99);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

// A group of the unified hierarchy in which we may make others, or nothing.
std::string unified_place() {
  auto own = sandbox::detect_own_cgroups();
  if (own.ok() && own->memory && own->memory->v2) {
    return sandbox::find_home(own->memory->path, {"memory", "pids", "cpu"}).value_or("");
  }
  auto mountinfo = sys::read_file("/proc/self/mountinfo");
  auto unified = sandbox::detect_cgroups(*mountinfo, "0::/\n");
  return unified.ok() && unified->memory ? unified->memory->path : "";
}

int touch(size_t bytes) {
  void* area = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return 98;
  for (size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(area)[at] = 1;
  return 0;
}

}  // namespace

TEST_CASE("a process beyond its group's memory limit is killed, and the counter moves by one",
          "[cgroup][kernel]") {
  CgroupRoot root = root_for("oom");
  if (skip_without(root, Layer::kCgroupMemory)) return;
  auto cell = CellCgroup::create(root, "cell");
  REQUIRE(cell.ok());
  REQUIRE(cell->set_memory_limit(sys::mebibytes(16)).ok());
  const uint64_t before = cell->oom_kills().value();

  int greedy = run_inside(*cell, [] { return touch(size_t{64} << 20); });
  const uint64_t after_greedy = cell->oom_kills().value();
  int modest = run_inside(*cell, [] { return touch(size_t{4} << 20); });

  CHECK((WIFSIGNALED(greedy) && WTERMSIG(greedy) == SIGKILL));
  CHECK(after_greedy - before == 1);
  CHECK((WIFEXITED(modest) && WEXITSTATUS(modest) == 0));
  CHECK(cell->oom_kills() == after_greedy);
}

TEST_CASE("when a job hits the limit of its cell, the cell's first process lives on",
          "[cgroup][kernel]") {
  CgroupRoot root = root_for("first");
  if (skip_without(root, Layer::kCgroupMemory)) return;
  auto cell = CellCgroup::create(root, "cell");
  REQUIRE(cell.ok());
  REQUIRE(cell->set_memory_limit(sys::mebibytes(16)).ok());
  auto joined = sys::make_pipe();
  REQUIRE(joined.ok());
  pid_t first = ::fork();
  if (first == 0) {
    if (!join(*cell)) ::_exit(99);
    (void)!::write(joined->writer.get(), "x", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  REQUIRE(::read(joined->reader.get(), &byte, 1) == 1);

  int greedy = run_inside(*cell, [] { return touch(size_t{64} << 20); });
  const bool alive = ::waitpid(first, nullptr, WNOHANG) == 0;
  if (alive) ::kill(first, SIGKILL);
  if (alive) ::waitpid(first, nullptr, 0);

  CHECK((WIFSIGNALED(greedy) && WTERMSIG(greedy) == SIGKILL));
  CHECK(alive);
  CHECK(cell->oom_kills() == 1);
  CHECK(cell->foreign_oom_kills() == 0);
}

TEST_CASE("a process killed at the limit of a group above is not counted as its cell's",
          "[cgroup][kernel]") {
  CgroupRoot root = root_for("above");
  if (skip_without(root, Layer::kCgroupMemory)) return;
  if (!root.layout().memory->v2) {
    WARN("SKIPPED, v1 does not tell whose limit it was");
    return;
  }
  auto cell = CellCgroup::create(root, "cell");
  REQUIRE(cell.ok());
  REQUIRE(cell->set_memory_limit(sys::mebibytes(256)).ok());
  // The daemon itself may live below its root group; the victim is who offered itself.
  REQUIRE(sys::write_control(root.layout().memory->path + "/memory.max", "33554432").ok());

  int greedy = run_inside(*cell, [] { return touch(size_t{128} << 20); });

  CHECK((WIFSIGNALED(greedy) && WTERMSIG(greedy) == SIGKILL));
  CHECK(cell->oom_kills() == 0);
  CHECK(cell->foreign_oom_kills() == 1);
}

TEST_CASE("a limit below what is in use is refused, and nobody dies of it", "[cgroup][kernel]") {
  CgroupRoot root = root_for("below");
  if (skip_without(root, Layer::kCgroupMemory)) return;
  auto cell = CellCgroup::create(root, "cell");
  REQUIRE(cell.ok());
  REQUIRE(cell->set_memory_limit(sys::mebibytes(64)).ok());
  auto touched = sys::make_pipe();
  REQUIRE(touched.ok());
  pid_t holder = ::fork();
  if (holder == 0) {
    if (!join(*cell) || touch(size_t{32} << 20) != 0) ::_exit(99);
    (void)!::write(touched->writer.get(), "x", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  REQUIRE(::read(touched->reader.get(), &byte, 1) == 1);

  auto refused = cell->set_memory_limit(sys::mebibytes(8));
  const bool alive = ::waitpid(holder, nullptr, WNOHANG) == 0;
  if (alive) ::kill(holder, SIGKILL);
  if (alive) ::waitpid(holder, nullptr, 0);

  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code() == EBUSY);
  CHECK(alive);
  CHECK(cell->oom_kills() == 0);
  CHECK(cell->set_memory_limit(sys::mebibytes(8)).ok());
}

TEST_CASE("the peak of a group can be started anew for each job", "[cgroup][kernel]") {
  CgroupRoot root = root_for("peak");
  if (skip_without(root, Layer::kCgroupMemory)) return;
  auto cell = CellCgroup::create(root, "cell");
  REQUIRE(cell.ok());
  REQUIRE(cell->set_memory_limit(sys::mebibytes(64)).ok());

  run_inside(*cell, [] { return touch(size_t{32} << 20); });
  CHECK(cell->peak() >= sys::mebibytes(32));
  if (!cell->reset_peak()) {
    WARN("SKIPPED, this kernel cannot reset a peak");
    return;
  }

  run_inside(*cell, [] { return touch(size_t{8} << 20); });
  CHECK(cell->peak() >= sys::mebibytes(8));
  CHECK(cell->peak() < sys::mebibytes(24));
}

TEST_CASE("a memory limit can be raised and lowered again and again", "[cgroup][kernel]") {
  CgroupRoot root = root_for("limit");
  if (skip_without(root, Layer::kCgroupMemory)) return;
  auto cell = CellCgroup::create(root, "cell");
  REQUIRE(cell.ok());

  for (uint64_t size : {64, 16, 256, 128, 512}) {
    CHECK(cell->set_memory_limit(sys::mebibytes(size)).ok());
  }
}

TEST_CASE("a fork beyond the group's pids limit is refused and counted", "[cgroup][kernel]") {
  CgroupRoot root = root_for("pids");
  if (skip_without(root, Layer::kCgroupPids)) return;
  auto cell = CellCgroup::create(root, "cell");
  REQUIRE(cell.ok());
  REQUIRE(cell->set_pids_limit(1).ok());
  const uint64_t before = cell->pids_refused().value();

  int status = run_inside(*cell, [] {
    pid_t pid = ::fork();
    if (pid == 0) ::_exit(0);
    return pid < 0 && errno == EAGAIN ? 0 : 1;
  });

  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK(cell->pids_refused().value() - before == 1);
  CHECK(cell->pids() == 0);
}

TEST_CASE("the CPU time of a process is accounted to its cell", "[cgroup][kernel]") {
  CgroupRoot root = root_for("cpu");
  if (skip_without(root, Layer::kCgroupCpu)) return;
  auto cell = CellCgroup::create(root, "cell");
  REQUIRE(cell.ok());

  run_inside(*cell, [] { return touch(size_t{16} << 20); });

  CHECK(cell->cpu_usage().value() > std::chrono::microseconds(100));
}

TEST_CASE("a cell's groups and the daemon's are gone when their owners are", "[cgroup][kernel]") {
  sandbox::CgroupLayout was;
  {
    CgroupRoot root = root_for("gone");
    if (skip_without(root, Layer::kCgroupPids)) return;
    was = root.layout();
    auto cell = CellCgroup::create(root, "cell");
    REQUIRE(cell.ok());
    CHECK_FALSE(CellCgroup::create(root, "cell").ok());
    CHECK(::access((was.pids->path + "/cell/cgroup.procs").c_str(), F_OK) == 0);
  }
  for (const auto& each : was.directories()) CHECK(::access(each.path.c_str(), F_OK) < 0);
}

TEST_CASE("what is left in a cell's v2 group dies with the group", "[cgroup][kernel]") {
  CgroupRoot root = root_for("kill");
  if (skip_without(root, Layer::kCgroupPids)) return;
  if (!root.layout().pids->v2) {
    WARN("SKIPPED, v1 has no cgroup.kill");
    return;
  }
  auto cell = CellCgroup::create(root, "cell");
  REQUIRE(cell.ok());
  auto pipe = sys::make_pipe();
  REQUIRE(pipe.ok());
  pid_t pid = ::fork();
  if (pid == 0) {
    join(*cell);
    (void)!::write(pipe->writer.get(), "x", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  REQUIRE(::read(pipe->reader.get(), &byte, 1) == 1);

  auto removed = cell->remove();
  int status = 0;
  ::waitpid(pid, &status, 0);

  CHECK(removed.ok());
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
}

TEST_CASE("a group that still holds a process is kept, and removed once it is empty",
          "[cgroup][kernel]") {
  CgroupRoot root = root_for("busy");
  if (skip_without(root, Layer::kCgroupPids)) return;
  if (root.layout().pids->v2) {
    WARN("SKIPPED, v2 kills what is left");
    return;
  }
  auto cell = CellCgroup::create(root, "cell");
  REQUIRE(cell.ok());
  auto pipe = sys::make_pipe();
  REQUIRE(pipe.ok());
  pid_t pid = ::fork();
  if (pid == 0) {
    join(*cell);
    (void)!::write(pipe->writer.get(), "x", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  REQUIRE(::read(pipe->reader.get(), &byte, 1) == 1);

  auto early = cell->remove();
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);

  CHECK(early.error().code() == EBUSY);
  CHECK(cell->remove().ok());
}

// The unified hierarchy of a hybrid host has no controllers of ours, but its rules about processes
// are the same.
TEST_CASE("the daemon moves to a leaf of the unified hierarchy and back", "[cgroup][kernel]") {
  std::string group = unified_place();
  if (!group.empty()) group += "/zygo-test-" + std::to_string(::getpid()) + "-leaf";
  if (group.empty() || ::mkdir(group.c_str(), 0755) < 0) {
    WARN("SKIPPED, the unified hierarchy cannot be written to");
    return;
  }
  ::mkdir((group + "/root").c_str(), 0755);

  pid_t pid = ::fork();
  if (pid == 0) {
    auto here = [] { return *sys::read_file("/proc/self/cgroup"); };
    if (!sys::write_control(group + "/cgroup.procs", "0")) ::_exit(1);
    {
      auto leaf = sandbox::DaemonLeaf::enter(group, group + "/root");
      if (!leaf || here().find("-leaf/root/daemon\n") == std::string::npos) ::_exit(2);
    }
    if (here().find("-leaf\n") == std::string::npos) ::_exit(3);
    pid_t other = ::fork();
    if (other == 0) {
      for (;;) ::pause();
    }
    bool refused = !sandbox::DaemonLeaf::enter(group, group + "/root").ok();
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
    ::_exit(refused && here().find("-leaf\n") != std::string::npos ? 0 : 4);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);

  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK(sandbox::remove_group_tree(group).ok());
}
