#include "runtime/host/host_trouble.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

using runtime::HostTrouble;
using namespace std::chrono_literals;

namespace {

// A kernel that says what the test wants.
struct FakeKernel {
  explicit FakeKernel(const std::string& name)
      : directory(std::filesystem::temp_directory_path() /
                  ("zygo-trouble-" + name + std::to_string(::getpid()))) {
    std::filesystem::create_directory(directory);
  }
  ~FakeKernel() { std::filesystem::remove_all(directory); }

  void say(int ticks, int stalled_us) const {
    std::ofstream(stat()) << "cpu  0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 " << ticks << " 0 0\n";
    std::ofstream(pressure()) << "some avg10=0.00 total=" << stalled_us << "\n";
  }
  std::string stat() const { return directory / "stat"; }
  std::string pressure() const { return directory / "io"; }

  std::filesystem::path directory;
};

}  // namespace

TEST_CASE("what slows the machine is read as times, of one CPU and of all disks", "[trouble]") {
  const FakeKernel kernel("times");
  kernel.say(3, 7);
  HostTrouble trouble(kernel.stat(), kernel.pressure());
  const sys::Nanoseconds tick(1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  CHECK(trouble.look(1, 1h) == HostTrouble::Reading{1h, 3 * tick, 7us});
  CHECK(trouble.look(0, 1h) == HostTrouble::Reading{1h, {}, 7us});
}

TEST_CASE("those who look at about the same time share one look, and are told when it was",
          "[trouble]") {
  const FakeKernel kernel("shared");
  kernel.say(0, 7);
  HostTrouble trouble(kernel.stat(), kernel.pressure());
  (void)trouble.look(1, 1h);
  kernel.say(0, 9);
  CHECK(trouble.look(1, 1h + 19ms) == HostTrouble::Reading{1h, {}, 7us});
  CHECK(trouble.look(1, 1h + 20ms) == HostTrouble::Reading{1h + 20ms, {}, 9us});
}

TEST_CASE("a kernel that counts neither is never slow", "[trouble]") {
  HostTrouble trouble("/nowhere/stat", "/nowhere/io");
  CHECK(trouble.look(0, 1h) == HostTrouble::Reading{1h, {}, {}});
}
