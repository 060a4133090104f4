// Groups on fake trees: hosts that this machine is not. Plain files do not vanish with rmdir as
// control files do, so the directory is removed by its owner here.

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "sandbox/cgroup.h"
#include "sandbox/sys/file.h"

using sandbox::CellCgroup;
using sandbox::CgroupLayout;
using sandbox::CgroupRoot;
using sandbox::Layer;
using sandbox::Layers;

namespace {

class FakeTree {
 public:
  FakeTree() {
    std::string pattern = std::filesystem::temp_directory_path() / "cgroup-test-XXXXXX";
    top_ = ::mkdtemp(pattern.data());
  }
  ~FakeTree() { std::filesystem::remove_all(top_); }
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;

  std::string dir(const std::string& name) {
    std::filesystem::create_directories(top_ / name);
    return top_ / name;
  }
  void file(const std::string& name, std::string_view text) { std::ofstream(top_ / name) << text; }
  std::string read(const std::string& name) { return sys::read_file(top_ / name).value(); }
  bool has(const std::string& name) { return std::filesystem::exists(top_ / name); }
  std::string top() const { return top_; }

 private:
  std::filesystem::path top_;
};

CgroupLayout all_v2(const std::string& path) {
  CgroupLayout::Controller group{path, true};
  return {.memory = group, .pids = group, .cpu = group, .cpuacct = group};
}

// A v2 group with every controller, and the daemon's group made in advance: a fake directory does
// not fill itself with control files.
void fake_v2_host(FakeTree& tree, std::string_view controllers) {
  tree.dir("zygo-7/daemon");
  tree.file("cgroup.controllers", controllers);
  for (const char* group : {"", "zygo-7/", "zygo-7/daemon/"}) {
    tree.file(group + std::string("cgroup.procs"), "");
    tree.file(group + std::string("cgroup.subtree_control"), "");
  }
}

pid_t dead_pid() {
  pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ::waitpid(pid, nullptr, 0);
  return pid;
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
}

TEST_CASE("a group without its memory files is an error, not a cell without a limit", "[cgroup]") {
  FakeTree tree;
  tree.file("cgroup.procs", "");

  CHECK_FALSE(CellCgroup::adopt(all_v2(tree.top()), "cell").ok());
}

TEST_CASE("at the root of a v2 hierarchy the daemon stays and hands its controllers down",
          "[cgroup]") {
  FakeTree tree;
  fake_v2_host(tree, "cpuset cpu io memory pids\n");

  CgroupRoot root = CgroupRoot::create_in(all_v2(tree.top()), "zygo-7");

  CHECK(root.layers() ==
        Layers().with(Layer::kCgroupMemory).with(Layer::kCgroupPids).with(Layer::kCgroupCpu));
  CHECK(root.layout() == all_v2(tree.top() + "/zygo-7"));
  CHECK(tree.read("zygo-7/daemon/cgroup.procs").empty());
}

TEST_CASE("in a delegated v2 group the daemon moves to a leaf, and back at the end", "[cgroup]") {
  FakeTree tree;
  fake_v2_host(tree, "memory pids\n");
  tree.file("cgroup.events", "populated 1\n");
  {
    CgroupRoot root = CgroupRoot::create_in(all_v2(tree.top()), "zygo-7");

    CHECK(root.layers() == Layers().with(Layer::kCgroupMemory).with(Layer::kCgroupPids));
    CHECK(root.obstacle(Layer::kCgroupCpu) == tree.top() + " was given no cpu controller");
    CHECK(tree.read("zygo-7/daemon/cgroup.procs") == "0");
    CHECK(tree.read("cgroup.procs").empty());
  }
  CHECK(tree.read("cgroup.procs") == "0");
}

TEST_CASE("a v2 group shared with other processes is not used, and the reason names one",
          "[cgroup]") {
  FakeTree tree;
  fake_v2_host(tree, "memory pids cpu\n");
  tree.file("cgroup.events", "populated 1\n");
  tree.file("cgroup.procs", "4711\n4712\n");

  CgroupRoot root = CgroupRoot::create_in(all_v2(tree.top()), "zygo-7");

  CHECK(root.layers() == Layers());
  CHECK(root.obstacle(Layer::kCgroupMemory).find("pid 4711") != std::string::npos);
  CHECK(tree.read("cgroup.subtree_control").empty());
  CHECK(tree.read("cgroup.procs").starts_with("0"));
}

TEST_CASE("a host without controllers gives empty cells that say so", "[cgroup]") {
  CgroupRoot root = CgroupRoot::create_in({}, "zygo-7");

  auto cell = CellCgroup::create(root, "cell");

  REQUIRE(cell.ok());
  CHECK(root.layers() == Layers());
  CHECK(root.obstacle(Layer::kCgroupPids).find("pids") != std::string::npos);
  CHECK(cell->layers() == Layers());
  CHECK(cell->join_fds().empty());
  CHECK_FALSE(cell->usage().has_value());
  CHECK_FALSE(cell->cpu_usage().has_value());
  CHECK_FALSE(cell->set_memory_limit(sys::mebibytes(1)).ok());
}

TEST_CASE("a directory that cannot be written to is an obstacle with its errno", "[cgroup]") {
  CgroupLayout layout{.memory = CgroupLayout::Controller{"/proc/self", false}};

  CgroupRoot root = CgroupRoot::create_in(layout, "zygo-7");

  CHECK(root.layers() == Layers());
  CHECK(root.obstacle(Layer::kCgroupMemory).find("mkdir /proc/self/zygo-7: ") == 0);
}

TEST_CASE("a sweep removes the groups of dead daemons only", "[cgroup]") {
  FakeTree tree;
  std::string dead = "zygo-" + std::to_string(dead_pid());
  std::string alive = "zygo-" + std::to_string(::getppid());
  tree.dir(dead + "/cell-1/below");
  tree.dir(dead + "-probe");
  for (const std::string& other : {alive, std::string("zygote"), std::string("zygo-x"),
                                   std::string("zygo-"), std::string("zygo-12x")}) {
    tree.dir(other);
  }

  CHECK(sandbox::sweep_cgroups(tree.top()) == 2);

  CHECK_FALSE(tree.has(dead));
  CHECK(tree.has(alive));
  CHECK(tree.has("zygote"));
  CHECK(tree.has("zygo-x"));
  CHECK(tree.has("zygo-12x"));
}

TEST_CASE("a sweep respects the lock of a daemon whose pid means nothing here", "[cgroup]") {
  FakeTree tree;
  std::string name = "zygo-" + std::to_string(dead_pid());
  {
    auto group =
        sandbox::GroupDirectory::create(tree.top() + "/" + name, sandbox::Leftovers::kSpared);
    REQUIRE(group.ok());
    REQUIRE(group->lock().ok());
    CHECK(sandbox::sweep_cgroups(tree.top()) == 0);
  }
  CHECK_FALSE(tree.has(name));
}

TEST_CASE("a child of the daemon that exits leaves the daemon's groups alone", "[cgroup]") {
  FakeTree tree;
  auto group = sandbox::GroupDirectory::create(tree.top() + "/g", sandbox::Leftovers::kSpared);
  REQUIRE(group.ok());
  pid_t pid = ::fork();
  if (pid == 0) {
    { sandbox::GroupDirectory dropped = std::move(group).value(); }
    ::_exit(0);
  }
  ::waitpid(pid, nullptr, 0);

  CHECK(tree.has("g"));
}

TEST_CASE("a cell's name must be a plain one", "[cgroup]") {
  CgroupRoot root = CgroupRoot::create_in({}, "zygo-7");
  for (const char* name : {"", ".", "..", "a/b", "daemon"}) {
    CHECK_FALSE(CellCgroup::create(root, name).ok());
  }
}
