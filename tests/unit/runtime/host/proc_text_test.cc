#include "runtime/host/proc_text.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "sandbox/sys/file.h"

using namespace runtime;

namespace {

std::string stat_of(const std::string& name, const std::string& times) {
  return "17 (" + name + ") S 1 17 17 0 -1 4194304 100 200 0 0 " + times + " 20 0 1 0 5000 1 2\n";
}

}  // namespace

TEST_CASE("a process that is named like a line of /proc/PID/stat does not change its CPU time",
          "[proc]") {
  CHECK(ticks_in_stat(stat_of("python3", "7 5 3 1")) == 16u);
  CHECK(ticks_in_stat(stat_of("a) R 0 0 0 0 0 0 0 0 0 0 0 0 (b", "7 5 3 1")) == 16u);
  CHECK(ticks_in_stat(stat_of(")\n))", "7 5 3 1")) == 16u);
}

TEST_CASE("a text that is no /proc/PID/stat has no CPU time", "[proc]") {
  CHECK_FALSE(ticks_in_stat(""));
  CHECK_FALSE(ticks_in_stat("17 (python3"));
  CHECK_FALSE(ticks_in_stat("17 (python3) S 1 17"));
  CHECK_FALSE(ticks_in_stat(stat_of("python3", "7 -5 3 1")));
  CHECK_FALSE(ticks_in_stat(stat_of("python3", "18446744073709551615 1 0 0")));
}

TEST_CASE("a process began at the tick that its line says, whatever its name", "[proc]") {
  CHECK(start_in_stat(stat_of("python3", "7 5 3 1")) == 5000u);
  CHECK(start_in_stat(stat_of("a) R 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 (b", "7 5 3 1")) ==
        5000u);
  CHECK_FALSE(start_in_stat(""));
  CHECK_FALSE(start_in_stat("17 (python3) S 1 17"));
  CHECK_FALSE(start_in_stat("17 (python3) S 1 17 17 0 -1 4194304 1 2 0 0 1 1 1 1 20 0 1 0 x"));
}

TEST_CASE("threads that are ready are the first number of the fourth word", "[proc]") {
  CHECK(ready_in_loadavg("0.78 2.58 3.56 17/512 9001\n") == 17u);
  CHECK_FALSE(ready_in_loadavg("0.78 2.58 3.56 17 9001\n"));
  CHECK_FALSE(ready_in_loadavg("0.78 2.58 3.56 x/512"));
  CHECK_FALSE(ready_in_loadavg(""));
}

TEST_CASE("children are the positive numbers up to the first thing that is none", "[proc]") {
  CHECK(pids_in("12 345 6 ") == std::vector<int>{12, 345, 6});
  CHECK(pids_in("").empty());
  CHECK(pids_in("12 x 6") == std::vector<int>{12});
  CHECK(pids_in("12 -1 6") == std::vector<int>{12});
  CHECK(pids_in("12 99999999999 6") == std::vector<int>{12});
}

TEST_CASE("a figure is the number of the line that begins with its key", "[proc]") {
  const std::string rollup =
      "00400000-7fff00000000 ---p 00000000 00:00 0 [rollup]\nRss:  900 kB\nPss_Anon:   812 kB\n";
  CHECK(number_of_line(rollup, "Pss_Anon:") == 812);
  CHECK_FALSE(number_of_line(rollup, "Anon:"));
  CHECK(number_of_line("pos:\t0\nPid:\t-1\n", "Pid:") == -1);
  CHECK_FALSE(number_of_line("Pid:\n", "Pid:"));
}

TEST_CASE("a thread is ready that runs or waits for a CPU, whatever its name", "[proc]") {
  CHECK(is_ready_in_stat("17 (python3) R 1 17"));
  CHECK_FALSE(is_ready_in_stat("17 (a) R (b) S 1 17"));
  CHECK_FALSE(is_ready_in_stat(""));
}

TEST_CASE("a thread has run and waited for as long as its two first numbers say", "[proc]") {
  const auto times = times_in_schedstat("100 2500 3\n");
  REQUIRE(times);
  CHECK(times->ran == 100u);
  CHECK(times->waited == 2500u);
  CHECK_FALSE(times_in_schedstat("100\n"));
  CHECK_FALSE(times_in_schedstat("-1 2500 3\n"));
  CHECK_FALSE(times_in_schedstat(""));
}

TEST_CASE("the texts of this very process are read", "[proc]") {
  const auto stat = sys::read_file("/proc/self/stat");
  const auto rollup = sys::read_file("/proc/self/smaps_rollup");
  REQUIRE(stat.ok());

  CHECK(ticks_in_stat(*stat));
  if (rollup.ok()) CHECK(number_of_line(*rollup, "Pss_Anon:").value_or(0) > 0);
}

TEST_CASE("faults that waited for a disk are those of a process and of its children", "[proc]") {
  CHECK(disk_faults_in_stat("17 (a) 1) S 1 17 17 0 -1 4194304 100 200 3 4 7 5 3 1 20 0\n") == 7);
  CHECK(disk_faults_in_stat(stat_of("python3", "7 5 3 1")) == 0);
  CHECK(disk_faults_in_stat("17 (python3") == 0);
}

TEST_CASE("stolen time is that of the CPU that is asked for", "[proc]") {
  const std::string text =
      "cpu  9 9 9 9 9 9 9 99 9 9\ncpu1 1 2 3 4 5 6 7 8 9 10\ncpu11 1 2 3 4 5 6 7 80 0 0\nintr 5\n";
  CHECK(stolen_in_stat(text, 1) == 8u);
  CHECK(stolen_in_stat(text, 11) == 80u);
  CHECK_FALSE(stolen_in_stat(text, 2));
  CHECK_FALSE(stolen_in_stat("cpu1 1 2 3", 1));  // a kernel before 2.6.11
}

TEST_CASE("the pressure on disks is the time for which somebody waited", "[proc]") {
  CHECK(stalled_in_pressure(
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=17\nfull avg10=0 total=9") == 17u);
  CHECK_FALSE(stalled_in_pressure("full avg10=0.00 total=17\n"));
  CHECK_FALSE(stalled_in_pressure("some avg10=0.00\nfull total=17\n"));
  CHECK_FALSE(stalled_in_pressure(""));
}
