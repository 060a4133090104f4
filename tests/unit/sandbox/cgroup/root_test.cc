// The daemon's groups on fake trees: where they are made, what they are given, what is swept.

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "sandbox/cgroup/cgroup.h"
#include "tests/unit/sandbox/cgroup/fake_tree.h"

using sandbox::CellCgroup;
using sandbox::CgroupLayout;
using sandbox::CgroupRoot;
using sandbox::GroupDirectory;
using sandbox::Layer;
using sandbox::Layers;
using sandbox::Leftovers;

namespace {

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

// A v2 group of the middle of a tree.
void fake_v2_group(FakeTree& tree, const std::string& name, std::string_view controllers,
                   std::string_view processes) {
  tree.dir(name);
  tree.file(name + "/cgroup.controllers", controllers);
  tree.file(name + "/cgroup.procs", processes);
  tree.file(name + "/cgroup.subtree_control", "");
  tree.file(name + "/cgroup.events", "populated 1\n");
  tree.file(name + "/cgroup.type", "domain\n");
}

pid_t dead_pid() {
  pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ::waitpid(pid, nullptr, 0);
  return pid;
}

}  // namespace

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

TEST_CASE("beside other processes the daemon's group is made in the group above them", "[cgroup]") {
  FakeTree tree;
  fake_v2_group(tree, "slice", "cpu memory pids\n", "");
  fake_v2_group(tree, "slice/session", "cpu memory pids\n", "4711\n4712\n");
  fake_v2_group(tree, "slice/zygo-7", "", "");

  CgroupRoot root = CgroupRoot::create_in(all_v2(tree.top() + "/slice/session"), "zygo-7");

  CHECK(root.layout() == all_v2(tree.top() + "/slice/zygo-7"));
  CHECK_FALSE(tree.has("slice/session/zygo-7"));
  CHECK(tree.read("slice/session/cgroup.subtree_control").empty());
  CHECK(tree.read("slice/session/cgroup.procs") == "4711\n4712\n");  // nobody moved
}

TEST_CASE("the home of a daemon is the nearest group that can give something", "[cgroup]") {
  FakeTree tree;
  const std::vector<std::string> wanted = {"memory", "pids"};
  const std::string session = tree.top() + "/user/slice/session",
                    slice = tree.top() + "/user/slice";
  const std::string user = tree.top() + "/user", self = std::to_string(::getpid()) + "\n";
  fake_v2_group(tree, "user", "cpu memory pids\n", "");
  fake_v2_group(tree, "user/slice", "memory pids\n", "");
  fake_v2_group(tree, "user/slice/session", "memory pids\n", self);

  CHECK(sandbox::find_home(session, wanted) == session);  // alone

  tree.file("user/slice/session/cgroup.procs", self + "1\n");
  CHECK(sandbox::find_home(session, wanted) == slice);  // with somebody else

  tree.file("user/slice/cgroup.controllers", "cpuset io\n");
  CHECK(sandbox::find_home(session, wanted) == user);  // nothing to be had from the slice

  tree.file("user/slice/cgroup.controllers", "memory\n");
  tree.file("user/slice/cgroup.type", "threaded\n");
  CHECK(sandbox::find_home(session, wanted) == user);  // takes threads only

  tree.file("user/cgroup.procs", self);
  CHECK_FALSE(sandbox::find_home(session, wanted));  // a group above with processes, even ours
}

TEST_CASE("a v2 group that will not hand a controller down names the file", "[cgroup]") {
  FakeTree tree;
  fake_v2_group(tree, "own", "memory pids\n", "");
  tree.dir("own/zygo-7/daemon");
  tree.file("own/zygo-7/daemon/cgroup.procs", "");
  std::filesystem::remove(tree.top() + "/own/cgroup.subtree_control");
  tree.dir("own/cgroup.subtree_control");  // neither read nor written

  CgroupRoot root = CgroupRoot::create_in(all_v2(tree.top() + "/own"), "zygo-7");

  CHECK(root.layers() == Layers());
  CHECK(root.obstacle(Layer::kCgroupMemory).find("cgroup.subtree_control") != std::string::npos);
  CHECK(root.obstacle(Layer::kCgroupPids).find("cgroup.subtree_control") != std::string::npos);
}

TEST_CASE("a read-only cgroupfs is an obstacle with its errno, on v2 as well", "[cgroup]") {
  CgroupRoot root = CgroupRoot::create_in(all_v2("/proc/self"), "zygo-7");

  CHECK(root.layers() == Layers());
  CHECK(root.obstacle(Layer::kCgroupPids).find("mkdir /proc/self/zygo-7: ") == 0);
  CHECK(root.layout() == CgroupLayout());
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

TEST_CASE("a sweep removes the groups of daemons that nobody claims", "[cgroup]") {
  FakeTree tree;
  const std::string gone = "zygo-" + std::to_string(dead_pid()) + "-77";
  // The number of a process that lives, and is no zygo: pids are used again, and mean nothing
  // beyond their namespace.
  const std::string reused = "zygo-" + std::to_string(::getppid());
  tree.dir(gone + "/cell-1/below");
  tree.dir(gone + "-probe");
  tree.dir(reused);
  for (const char* other : {"zygote", "zygo-x", "zygo-", "zygo-12x"}) tree.dir(other);

  CHECK(sandbox::sweep_cgroups(tree.top()) == 3);

  CHECK_FALSE(tree.has(gone));
  CHECK_FALSE(tree.has(reused));
  for (const char* other : {"zygote", "zygo-x", "zygo-", "zygo-12x"}) CHECK(tree.has(other));
}

TEST_CASE("a daemon sweeps when it ends, too", "[cgroup]") {
  FakeTree tree;
  const std::string gone = "zygo-" + std::to_string(dead_pid()) + "-77";
  {
    const CgroupRoot root = CgroupRoot::create_in(all_v2(tree.top()), "zygo-7");
    tree.dir(gone + "/cell-1");  // its processes have ended meanwhile
  }
  CHECK_FALSE(tree.has(gone));
}

TEST_CASE("a sweep leaves alone what a daemon claims whose pid means nothing here", "[cgroup]") {
  FakeTree tree;
  const std::string name = "zygo-" + std::to_string(dead_pid());
  {
    auto group = GroupDirectory::claim(tree.top() + "/" + name, Leftovers::kSpared);
    REQUIRE(group.ok());
    tree.dir(name + "/cell-1");  // empty: its first process is about to be born
    CHECK(sandbox::sweep_cgroups(tree.top()) == 0);
    CHECK(tree.has(name + "/cell-1"));
  }
  CHECK_FALSE(tree.has(name));
}

TEST_CASE("a group has one owner, and who comes second touches nothing in it", "[cgroup]") {
  FakeTree tree;
  const std::string path = tree.top() + "/zygo-7";
  auto first = GroupDirectory::claim(path, Leftovers::kSpared);
  REQUIRE(first.ok());
  tree.dir("zygo-7/cell-1");

  CHECK(GroupDirectory::claim(path, Leftovers::kSpared).error().code() == EWOULDBLOCK);
  CHECK(tree.has("zygo-7/cell-1"));

  CHECK(first->remove().ok());
  CHECK(GroupDirectory::claim(path, Leftovers::kSpared).ok());
}

TEST_CASE("two daemons of one name in one place have groups of their own", "[cgroup]") {
  FakeTree tree;
  const CgroupLayout own{.memory = CgroupLayout::Controller{tree.top(), false}};

  CgroupRoot one = CgroupRoot::create_in(own, "zygo-7");
  CgroupRoot other = CgroupRoot::create_in(own, "zygo-7");

  CHECK(one.layers() == Layers().with(Layer::kCgroupMemory));
  CHECK(other.layers() == one.layers());
  CHECK(one.layout().memory->path == tree.top() + "/zygo-7");
  CHECK(other.layout().memory->path == tree.top() + "/zygo-7-1");
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
