// The group of one cell on fake trees: v1, v2 and both, with and without what newer kernels have.

#include <catch2/catch.hpp>

#include "sandbox/cgroup/cgroup.h"
#include "tests/unit/sandbox/cgroup/fake_tree.h"

using sandbox::CellCgroup;
using sandbox::CgroupLayout;
using sandbox::Layer;
using sandbox::Layers;

namespace {

void fake_v1_cell(FakeTree& tree) {
  for (const char* name : {"tasks", "memory.limit_in_bytes", "pids.max"}) tree.file(name, "");
  tree.file("memory.usage_in_bytes", "4096\n");
  tree.file("memory.max_usage_in_bytes", "8192\n");
  tree.file("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  tree.file("pids.current", "3\n");
  tree.file("pids.events", "max 5\n");
  tree.file("cpuacct.usage", "1500000\n");
}

}  // namespace

TEST_CASE("a v2 cell reads and writes the v2 files", "[cgroup]") {
  FakeTree tree;
  for (const char* name : {"cgroup.procs", "memory.max", "memory.swap.max", "pids.max"}) {
    tree.file(name, "");
  }
  tree.file("memory.current", "4096\n");
  tree.file("memory.peak", "8192\n");
  tree.file("memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\noom_group_kill 0\n");
  tree.file("pids.current", "3\n");
  tree.file("pids.events", "max 5\n");
  tree.file("cpu.stat", "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\n");

  auto cell = CellCgroup::adopt(all_v2(tree.top()), "cell");

  REQUIRE(cell.ok());
  CHECK(cell->set_memory_limit(sys::mebibytes(1)).ok());
  CHECK(cell->set_pids_limit(12).ok());
  CHECK(tree.read("memory.max") == "1048576");
  CHECK(tree.read("memory.swap.max") == "0");
  CHECK(tree.read("pids.max") == "12");
  CHECK(cell->usage() == sys::Bytes{4096});
  CHECK(cell->peak() == sys::Bytes{8192});
  CHECK(cell->oom_kills() == 1);
  CHECK(cell->pids() == 3);
  CHECK(cell->pids_refused() == 5);
  CHECK(cell->cpu_usage() == std::chrono::microseconds(1500));
  CHECK(cell->join_fds().size() == 1);
  CHECK(cell->clone_into_fd() >= 0);
}

TEST_CASE("a v2 kernel older than 5.19 has no peak, and the cell works without", "[cgroup]") {
  FakeTree tree;
  for (const char* name : {"cgroup.procs", "memory.max", "memory.current", "memory.events"}) {
    tree.file(name, "");
  }
  CgroupLayout layout{.memory = CgroupLayout::Controller{tree.top(), true}};

  auto cell = CellCgroup::adopt(layout, "cell");

  REQUIRE(cell.ok());
  CHECK(cell->layers() == Layers().with(Layer::kCgroupMemory));
  CHECK_FALSE(cell->peak().has_value());
  CHECK_FALSE(cell->reset_peak());
  CHECK_FALSE(cell->pids_refused().has_value());
  CHECK_FALSE(cell->set_pids_limit(1).ok());
  CHECK(cell->set_memory_limit(sys::mebibytes(1)).ok());
  CHECK_FALSE(tree.has("memory.swap.max"));
}

TEST_CASE("a group without its memory files is an error, not a cell without a limit", "[cgroup]") {
  FakeTree tree;
  tree.file("cgroup.procs", "");

  CHECK_FALSE(CellCgroup::adopt(all_v2(tree.top()), "cell").ok());
}

TEST_CASE("a v1 cell reads and writes the v1 files", "[cgroup]") {
  FakeTree tree;
  fake_v1_cell(tree);
  tree.file("memory.memsw.limit_in_bytes", "");

  auto cell = CellCgroup::adopt(all_v1(tree.top()), "cell");

  REQUIRE(cell.ok());
  CHECK(cell->set_memory_limit(sys::mebibytes(1)).ok());
  CHECK(cell->set_pids_limit(12).ok());
  CHECK(tree.read("memory.limit_in_bytes") == "1048576");
  CHECK(tree.read("memory.memsw.limit_in_bytes") == "1048576");
  CHECK(tree.read("pids.max") == "12");
  CHECK(cell->usage() == sys::Bytes{4096});
  CHECK(cell->peak() == sys::Bytes{8192});
  CHECK(cell->reset_peak());
  CHECK(tree.read("memory.max_usage_in_bytes").starts_with("0"));
  CHECK(cell->oom_kills() == 1);
  CHECK(cell->pids_refused() == 5);
  CHECK(cell->cpu_usage() == std::chrono::microseconds(1500));
  CHECK(cell->clone_into_fd() < 0);
}

TEST_CASE("a v1 kernel without swap accounting limits memory, and does not swap", "[cgroup]") {
  FakeTree tree;
  fake_v1_cell(tree);
  tree.file("memory.swappiness", "60");

  auto cell = CellCgroup::adopt(all_v1(tree.top()), "cell");

  REQUIRE(cell.ok());
  CHECK(cell->set_memory_limit(sys::mebibytes(1)).ok());
  CHECK(tree.read("memory.limit_in_bytes") == "1048576");
  CHECK(tree.read("memory.swappiness").starts_with("0"));
  CHECK(cell->oom_kills() == 1);
}

TEST_CASE("on a hybrid host a cell joins both hierarchies, each by its own door", "[cgroup]") {
  FakeTree tree;
  for (const char* name : {"one/", "two/"}) tree.dir(name);
  for (const char* name : {"limit_in_bytes", "usage_in_bytes", "max_usage_in_bytes"}) {
    tree.file(std::string("one/memory.") + name, "");
  }
  for (const char* name : {"one/memory.oom_control", "one/tasks", "two/cgroup.procs",
                           "two/pids.max", "two/pids.current", "two/pids.events"}) {
    tree.file(name, "");
  }
  CgroupLayout layout{.memory = CgroupLayout::Controller{tree.top() + "/one", false},
                      .pids = CgroupLayout::Controller{tree.top() + "/two", true}};

  auto cell = CellCgroup::adopt(layout, "cell");

  REQUIRE(cell.ok());
  CHECK(cell->layers() == Layers().with(Layer::kCgroupMemory).with(Layer::kCgroupPids));
  CHECK(cell->join_fds().size() == 2);
  CHECK(cell->clone_into_fd() >= 0);
  CHECK(cell->set_pids_limit(3).ok());
  CHECK(tree.read("two/pids.max") == "3");
}

TEST_CASE("who is killed because a group above ran out of memory did not exceed its own limit",
          "[cgroup]") {
  FakeTree tree;
  for (const char* name : {"cgroup.procs", "memory.max", "memory.current"}) tree.file(name, "");
  tree.file("memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\noom_group_kill 0\n");

  auto cell = CellCgroup::adopt({.memory = CgroupLayout::Controller{tree.top(), true}}, "cell");

  REQUIRE(cell.ok());
  CHECK(cell->oom_kills() == 0);
  CHECK(cell->foreign_oom_kills() == 1);
}

TEST_CASE("a v2 limit below what stays in use is refused, for the kernel would kill the cell",
          "[cgroup]") {
  FakeTree tree;
  for (const char* name : {"cgroup.procs", "memory.max", "memory.high", "memory.events"}) {
    tree.file(name, "");
  }
  tree.file("memory.current", "2097152\n");
  auto cell = CellCgroup::adopt({.memory = CgroupLayout::Controller{tree.top(), true}}, "cell");
  REQUIRE(cell.ok());

  auto refused = cell->set_memory_limit(sys::mebibytes(1));

  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code() == EBUSY);
  CHECK(tree.read("memory.max").empty());
  CHECK(tree.read("memory.high").starts_with("max"));
  CHECK(cell->set_memory_limit(sys::mebibytes(2)).ok());
}
