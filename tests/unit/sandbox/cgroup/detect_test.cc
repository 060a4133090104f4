// Finding our own groups, from literal texts of hosts and containers.

#include <catch2/catch.hpp>

#include "sandbox/cgroup/cgroup.h"

using sandbox::CgroupLayout;
using sandbox::detect_cgroups;

namespace {

CgroupLayout::Controller v1(std::string path) { return {std::move(path), false}; }
CgroupLayout::Controller v2(std::string path) { return {std::move(path), true}; }

constexpr const char* kHybrid =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:10 - cgroup cgroup rw,memory\n"
    "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

}  // namespace

TEST_CASE("on a hybrid host each v1 hierarchy shows the group we are in", "[cgroup]") {
  auto layout = detect_cgroups(kHybrid,
                               "9:name=systemd:/\n8:pids:/jobs\n4:memory:/a/b\n"
                               "2:cpu,cpuacct:/\n0::/\n");

  REQUIRE(layout.ok());
  CHECK(layout->memory == v1("/sys/fs/cgroup/memory/a/b"));
  CHECK(layout->pids == v1("/sys/fs/cgroup/pids/jobs"));
  CHECK(layout->cpu == v1("/sys/fs/cgroup/cpu,cpuacct"));
  CHECK(layout->cpuacct == layout->cpu);
}

TEST_CASE("controllers mounted together share one directory", "[cgroup]") {
  auto layout = detect_cgroups(kHybrid, "8:pids:/\n4:memory:/\n2:cpu,cpuacct:/x\n0::/\n");

  REQUIRE(layout.ok());
  CHECK(layout->directories().size() == 3);
  CHECK(layout->below("zygo-7").cpuacct == v1("/sys/fs/cgroup/cpu,cpuacct/x/zygo-7"));
}

TEST_CASE("a controller without a v1 hierarchy may come from the unified one", "[cgroup]") {
  auto layout = detect_cgroups(kHybrid, "4:memory:/m\n0::/u\n");

  REQUIRE(layout.ok());
  CHECK(layout->memory == v1("/sys/fs/cgroup/memory/m"));
  CHECK(layout->pids == v2("/sys/fs/cgroup/unified/u"));
}

TEST_CASE("on a v2 host every controller lives in the one group", "[cgroup]") {
  auto layout = detect_cgroups(
      "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
      "0::/user.slice/user-1000.slice/user@1000.service/run-1.scope\n");

  REQUIRE(layout.ok());
  const auto group = v2("/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/run-1.scope");
  CHECK(layout->memory == group);
  CHECK(layout->pids == group);
  CHECK(layout->cpu == group);
  CHECK(layout->directories() == std::vector{group});
}

TEST_CASE("in a container the mount shows our group as its top, in both notations", "[cgroup]") {
  const char* host_namespace =
      "99 98 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup c rw,memory\n";
  const char* own_namespace = "99 98 0:32 / /sys/fs/cgroup/memory ro - cgroup c rw,memory\n";

  auto outer = detect_cgroups(host_namespace, "4:memory:/docker/abc\n");
  auto nested = detect_cgroups(host_namespace, "4:memory:/docker/abc/job\n");
  auto inner = detect_cgroups(own_namespace, "4:memory:/\n");

  CHECK(outer->memory == v1("/sys/fs/cgroup/memory"));
  CHECK(nested->memory == v1("/sys/fs/cgroup/memory/job"));
  CHECK(inner->memory == v1("/sys/fs/cgroup/memory"));
}

TEST_CASE("a mount that does not show our group is not used", "[cgroup]") {
  auto sibling = detect_cgroups("9 8 0:1 /docker/abc /cg rw - cgroup c rw,memory\n",
                                "4:memory:/docker/abcdef\n");
  auto above = detect_cgroups("9 8 0:1 /../.. /cg rw - cgroup2 c rw\n", "0::/\n");
  auto outside = detect_cgroups("9 8 0:1 / /cg rw - cgroup2 c rw\n", "0::/../other\n");

  CHECK_FALSE(sibling->memory);
  CHECK_FALSE(above->memory);
  CHECK_FALSE(outside->memory);
}

TEST_CASE("of several mounts of a hierarchy the writable one is chosen", "[cgroup]") {
  auto layout = detect_cgroups(
      "9 8 0:1 / /read-only ro - cgroup2 c rw\n"
      "10 8 0:1 / /with\\040space rw - cgroup2 c rw\n",
      "0::/\n");

  CHECK(layout->pids == v2("/with space"));
}

TEST_CASE("a host without cgroup mounts yields an empty layout, a torn text an error", "[cgroup]") {
  CHECK(detect_cgroups("22 27 0:21 / /proc rw - proc proc rw\n", "0::/\n")->directories().empty());
  CHECK(detect_cgroups("", "")->directories().empty());
  CHECK_FALSE(detect_cgroups(kHybrid, "4:mem").ok());
  CHECK_FALSE(detect_cgroups(kHybrid, "4:memory:relative\n").ok());
}

TEST_CASE("a figure is found by its whole key", "[cgroup]") {
  constexpr const char* kText = "oom_kill_disable 0\nunder_oom 0\noom_kill 7\noom_group_kill 3\n";
  CHECK(sandbox::field_of(kText, "oom_kill") == 7);
  CHECK(sandbox::field_of("low 0\nhigh 0\nmax 12\noom 1\noom_kill 1", "max") == 12);
  CHECK_FALSE(sandbox::field_of(kText, "oom").has_value());
  CHECK_FALSE(sandbox::field_of("oom_kill many\n", "oom_kill").has_value());
  CHECK_FALSE(sandbox::field_of("", "oom_kill").has_value());
}
