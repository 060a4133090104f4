#include "sandbox/probe/probe.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "sandbox/cgroup/cgroup.h"
#include "sandbox/probe/child.h"
#include "sandbox/probe/cures.h"
#include "sandbox/probe/facts.h"
#include "sandbox/probe/ids.h"
#include "sandbox/probe/place.h"
#include "sandbox/probe/words.h"

using namespace std::chrono_literals;
using sandbox::best_level;
using sandbox::cure_for;
using sandbox::HostHints;
using sandbox::Layer;
using sandbox::LayerReport;
using sandbox::Level;

namespace {

std::vector<LayerReport> reports_of(std::initializer_list<const char*> names) {
  std::vector<LayerReport> reports;
  for (const char* name : names) reports.push_back({name, true, "", "", true});
  return reports;
}

sandbox::Location in_docker() {
  return {.place = sandbox::Place::kContainer, .engine = "docker", .root = true, .filtered = true};
}

int open_descriptors() {
  auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<int>(std::distance(begin(all), end(all)));
}

// Refuses what a default container refuses us: no namespaces, no mounts, no clone3.
bool load_container_filter() {
  constexpr uint32_t kDenied = SECCOMP_RET_ERRNO | EPERM;
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 2, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, kDenied),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
  };
  sock_fprog program{.len = sizeof code / sizeof code[0], .filter = code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

const LayerReport* find(const std::vector<LayerReport>& reports, std::string_view name) {
  auto found = std::find_if(reports.begin(), reports.end(),
                            [name](const LayerReport& each) { return each.name == name; });
  return found == reports.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("the best level is the highest one whose needs are all met", "[probe]") {
  auto full = reports_of(
      {"userns", "pidns", "mntns", "netns", "ipcns", "utsns", "seccomp", "seccomp.notify"});
  CHECK(best_level(full) == Level::kFull);
  full[3].available = false;
  CHECK(best_level(full) == std::nullopt);
  CHECK(missing_for(Level::kFull, full) == std::vector<std::string_view>{"netns"});

  CHECK(best_level(reports_of({"uid", "landlock", "seccomp", "seccomp.notify"})) ==
        Level::kContained);
  CHECK(best_level(reports_of({"landlock", "seccomp", "seccomp.notify"})) == Level::kMinimal);
  CHECK(best_level(reports_of({"landlock", "seccomp", "uid"})) == std::nullopt);
  CHECK(best_level({}) == std::nullopt);
}

TEST_CASE("only reports that name a layer count as layers", "[probe]") {
  auto layers = available_layers(reports_of({"userns", "clone3", "cgroup.pids", "cpu policy"}));
  CHECK(layers == sandbox::Layers().with(Layer::kUserNs).with(Layer::kCgroupPids));
}

TEST_CASE("the cure for missing user namespaces names the switch that is off", "[probe]") {
  CHECK(cure_for("userns", EPERM, HostHints{.unprivileged_userns_clone = 0}) ==
        "sysctl -w kernel.unprivileged_userns_clone=1");
  CHECK(cure_for("netns", ENOSPC, HostHints{.max_user_namespaces = 0}) ==
        "sysctl -w user.max_user_namespaces=15000");
  CHECK(cure_for("mntns", EACCES, HostHints{.apparmor_restricts_userns = 1}).find("apparmor") !=
        std::string::npos);
  CHECK(cure_for("pidns", EPERM, HostHints{.at = in_docker()}).find("docker run") !=
        std::string::npos);
}

TEST_CASE("what no root of a host lacks is missing in a chroot", "[probe]") {
  HostHints hints;
  hints.at.root = true;
  CHECK(cure_for("userns", EPERM, hints).find("leave the chroot") == 0);
  hints.at.rootless = true;
  CHECK(cure_for("userns", EPERM, hints).find("chroot") == std::string::npos);
}

TEST_CASE("an ordinary user is told how to use subordinate ids", "[probe]") {
  const char* name = GENERATE("uid", "idmap.range");
  CHECK(cure_for(name, EPERM, HostHints{}).find("unshare --map-root-user --map-auto zygo") !=
        std::string::npos);
}

TEST_CASE("a shortage is no lack of the kernel, whatever it is that was tried", "[probe]") {
  const char* name = GENERATE("seccomp", "userns", "clone3", "cgroup.pids", "fds");
  CHECK(cure_for(name, EAGAIN, HostHints{}).find("ulimit -u") != std::string::npos);
  CHECK(cure_for(name, ENOMEM, HostHints{.at = in_docker()}).find("more memory") !=
        std::string::npos);
}

TEST_CASE("an ordinary user is told how to get a delegated group", "[probe]") {
  CHECK(cure_for("cgroup.memory", EACCES, HostHints{})
            .find("systemd-run --user --scope -p Delegate=yes") != std::string::npos);
}

TEST_CASE("each place is told in its own language", "[probe]") {
  auto [place, says] = GENERATE(table<sandbox::Place, const char*>(
      {{sandbox::Place::kHost, "systemd-run --scope -p Delegate=yes"},
       {sandbox::Place::kService, "in the unit: Delegate=yes"},
       {sandbox::Place::kContainer, "docker run --privileged"},
       {sandbox::Place::kKubernetes, "securityContext: {privileged: true}"}}));

  CHECK(cure_for("cgroup.memory", EROFS, HostHints{.at = {.place = place, .root = true}})
            .find(says) != std::string::npos);
}

TEST_CASE("containers and pods are told from hosts by what they leave behind", "[probe]") {
  using sandbox::location_of;
  using sandbox::Place;
  const std::string all = "0 0 4294967295\n";
  CHECK(location_of({.uid_map = all}).place == Place::kHost);
  CHECK(location_of({.docker_file = true, .uid_map = all}) ==
        sandbox::Location{.place = Place::kContainer, .engine = "docker", .root = true});
  CHECK(location_of({.podman_file = true, .podman_text = "rootless=1\n", .uid_map = all}).rootless);
  CHECK(location_of({.cgroups = "0::/system.slice/containerd.service/x"}).engine == "containerd");
  CHECK(location_of({.status = "Name:\tx\nSeccomp:\t2\n"}).place == Place::kContainer);
  CHECK(location_of({.docker_file = true, .disk_root = true, .uid_map = all}).place ==
        Place::kHost);
  CHECK(location_of({.docker_file = true, .pod_variable = true}).place == Place::kKubernetes);
  CHECK(
      location_of({.service_variable = true, .cgroups = "0::/system.slice/zygo.service\n"}).place ==
      Place::kService);
  CHECK(location_of({.service_variable = true,
                     .cgroups = "0::/user.slice/user-1.slice/user@1.service/app.slice\n"})
            .place == Place::kHost);
  CHECK(location_of({.uid_map = "0 1000 1\n"}).rootless);
  CHECK_FALSE(location_of({.uid_map = all, .uid = 1000}).root);
}

TEST_CASE("what the kernel has is told from what we may use, or left open", "[probe]") {
  using sandbox::kernel_has;
  using sandbox::KernelFacts;
  CHECK(kernel_has("netns", EPERM, KernelFacts{.namespaces = "mnt net user "}) == true);
  CHECK(kernel_has("userns", EPERM, KernelFacts{.namespaces = "mnt net "}) == false);
  CHECK(kernel_has("userns", EPERM, KernelFacts{}) == std::nullopt);
  CHECK(kernel_has("landlock", 0, KernelFacts{.landlock_error = EOPNOTSUPP}) == false);
  CHECK(kernel_has("landlock", 0, KernelFacts{.landlock_error = ENOSYS, .filtered = true}) ==
        std::nullopt);
  CHECK(kernel_has("landlock.scope", 0, KernelFacts{.landlock_abi = 5}) == false);
  CHECK(kernel_has("clone3", ENOSYS, KernelFacts{.major = 6, .minor = 1, .filtered = true}) ==
        true);
  CHECK(kernel_has("clone3", ENOSYS, KernelFacts{.major = 5, .minor = 2}) == false);
  const std::string controllers = "#name\nmemory\t4\t15\t1\npids\t8\t1\t0\n";
  CHECK(kernel_has("cgroup.memory", 0, KernelFacts{.controllers = controllers}) == true);
  CHECK(kernel_has("cgroup.pids", 0, KernelFacts{.controllers = controllers}) == false);
}

TEST_CASE("a level stands on its own layers only", "[probe]") {
  CHECK(sandbox::counts_at(Level::kFull, "netns"));
  CHECK_FALSE(sandbox::counts_at(Level::kContained, "netns"));
  CHECK(sandbox::counts_at(Level::kContained, "uid"));
  CHECK_FALSE(sandbox::counts_at(Level::kMinimal, "uid"));
  CHECK_FALSE(sandbox::counts_at(Level::kMinimal, "idmap.range"));
  CHECK(sandbox::counts_at(Level::kMinimal, "landlock.scope"));
}

TEST_CASE("spare ids lie inside the map of our user namespace", "[probe]") {
  CHECK(sandbox::spare_id("         0          0 4294967295\n") == 100000u);
  CHECK(sandbox::spare_id("0 1000 1\n1 100000 65536\n") == 32769u);
  CHECK(sandbox::spare_id("0 1000 1\n") == std::nullopt);
  CHECK(sandbox::spare_id("") == std::nullopt);
}

TEST_CASE("a trial that is killed or never ends is an answer, not a hang", "[probe]") {
  auto killed = sandbox::run_in_child([](const void*) -> sandbox::ProbeAnswer {
    ::raise(SIGKILL);
    return {};
  });
  CHECK(killed.error == EPERM);

  auto odd = sandbox::run_in_child(
      [](const void* argument) {
        return sandbox::ProbeAnswer{ENOTTY, "say so", *static_cast<const int*>(argument)};
      },
      &killed.error);
  CHECK(odd.error == ENOTTY);
  CHECK(odd.step == std::string_view("say so"));
  CHECK(odd.value == EPERM);
}

TEST_CASE("probing this host names every layer once, and explains what is missing", "[probe]") {
  auto reports = sandbox::probe_host();

  for (unsigned i = 0; i < sandbox::kLayerCount; ++i) {
    auto name = name_of(static_cast<Layer>(i));
    INFO(name);
    CHECK(std::count_if(reports.begin(), reports.end(),
                        [name](const LayerReport& each) { return each.name == name; }) == 1);
  }
  for (const LayerReport& each : reports) {
    INFO(each.name << ": " << each.why);
    CHECK_FALSE(each.why.empty());
    CHECK_FALSE(sandbox::lost_without(each.name).empty());
    CHECK(sandbox::lost_without(each.name).size() <= 50);
    CHECK((!each.available || each.kernel == true));
    CHECK(each.available == each.cure.empty());
  }
}

// Compares only what needs no cgroup: those are asked for when a daemon makes its own.
bool say_the_same(const std::vector<LayerReport>& shortly,
                  const std::vector<LayerReport>& at_length) {
  sandbox::Layers layers = sandbox::available_layers(at_length);
  for (Layer layer : {Layer::kCgroupMemory, Layer::kCgroupPids, Layer::kCgroupCpu})
    layers = layers.without(layer);
  return sandbox::available_layers(shortly) == layers &&
         best_level(shortly) == best_level(at_length);
}

TEST_CASE("what a start waits for is told as by trying everything by itself", "[probe]") {
  CHECK(say_the_same(sandbox::probe_layers(), sandbox::probe_host()));

  const pid_t pid = ::fork();
  if (pid == 0) {
    if (!load_container_filter()) ::_exit(1);
    const std::vector<LayerReport> shortly = sandbox::probe_layers();
    if (!say_the_same(shortly, sandbox::probe_host())) ::_exit(2);
    const LayerReport* userns = find(shortly, "userns");
    ::_exit(userns->cure.find("--privileged") == std::string::npos ? 3 : 0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("probing leaves no process, descriptor or group behind and is quick", "[probe]") {
  auto own = sandbox::detect_own_cgroups();
  const int before = open_descriptors();
  const auto start = std::chrono::steady_clock::now();

  sandbox::probe_host();
  sandbox::probe_layers();

  CHECK(std::chrono::steady_clock::now() - start < 30s);
  CHECK(open_descriptors() == before);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  for (const auto& each : own->directories()) {
    std::string probe = each.path + "/zygo-" + std::to_string(::getpid()) + "-probe";
    CHECK(::access(probe.c_str(), F_OK) < 0);
  }
}

TEST_CASE("a daemon that already has its group reports that one", "[probe]") {
  auto root = sandbox::CgroupRoot::create_in({}, "zygo-7");

  auto reports = sandbox::probe_host(&root);

  const LayerReport* memory = find(reports, "cgroup.memory");
  REQUIRE(memory);
  CHECK_FALSE(memory->available);
  CHECK(memory->why == root.obstacle(Layer::kCgroupMemory));
}

TEST_CASE("behind a default container's filter there is no full level, and the cure says why",
          "[probe]") {
  pid_t pid = ::fork();
  if (pid == 0) {
    if (!load_container_filter()) ::_exit(1);
    auto reports = sandbox::probe_host();
    const LayerReport* userns = find(reports, "userns");
    if (userns->available || userns->cure.find("--privileged") == std::string::npos) ::_exit(2);
    if (find(reports, "clone3")->available || !find(reports, "pidfd")->available) ::_exit(3);
    if (!find(reports, "seccomp")->available) ::_exit(4);
    auto level = best_level(reports);
    ::_exit(level == Level::kFull ? 5 : 0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);

  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
