#include "runtime/sessions/going_on.h"

#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <map>
#include <string>

using runtime::holds_lock;
using runtime::is_as_forked;
using runtime::is_as_given;
using runtime::ProcessTexts;

namespace {

std::string line(const std::string& name, const std::string& soft, const std::string& hard) {
  std::string text = name;
  text.resize(26, ' ');
  text += soft;
  text.resize(47, ' ');
  return text + hard + "  units\n";
}

std::string limits(const std::string& files = "256", const std::string& cpu = "unlimited") {
  std::string text = line("Limit", "Soft Limit", "Hard Limit");
  const char* const names[] = {
      "Max cpu time",       "Max file size",     "Max data size",         "Max stack size",
      "Max core file size", "Max resident set",  "Max processes",         "Max open files",
      "Max locked memory",  "Max address space", "Max file locks",        "Max pending signals",
      "Max msgqueue size",  "Max nice priority", "Max realtime priority", "Max realtime timeout"};
  for (const std::string name : names) {
    if (name == "Max cpu time")
      text += line(name, cpu, cpu);
    else if (name == "Max open files")
      text += line(name, files, files);
    else if (name == "Max core file size" || name == "Max locked memory")
      text += line(name, "0", "0");
    else if (name == "Max pending signals")
      text += line(name, "256", "256");
    else
      text += line(name, "8388608", "unlimited");
  }
  return text;
}

// proc_pid_stat(5)
std::string stat_with(const std::string& name, const std::map<int, int>& fields) {
  std::string text = "7 (" + name + ") T";
  for (int field = 4; field <= 52; ++field) {
    const auto found = fields.find(field);
    text += " " + std::to_string(found == fields.end() ? 0 : found->second);
  }
  return text;
}

std::string stat(const std::string& name, int nice, int policy) {
  return stat_with(name, {{19, nice}, {41, policy}});
}

std::string status(const std::string& caught = "0000000000000002", const std::string& cpus = "3",
                   const std::string& filters = "2") {
  return "Name:\tpython3\nNSpgid:\t1\nNSsid:\t1\nTHP_enabled:\t1\nSigCgt:\t" + caught +
         "\nSeccomp:\t2\nSeccomp_filters:\t" + filters + "\nCpus_allowed:\t" + cpus +
         "\nMems_allowed:\t1\n";
}

std::string without(std::string text, const std::string& name) {
  const size_t at = text.find("\n" + name + ":");
  return text.erase(at, text.find('\n', at + 1) - at);
}

constexpr int kUsual = 0, kIdle = 5;  // classes of scheduling

struct Look {
  ProcessTexts process{status(), stat("python3", 0, kIdle), limits("256", "22")};
  ProcessTexts parent{status("0"), stat("python3", 0, kUsual), limits("1024")};
  sandbox::Rlimits given{.cpu_seconds = 22};
  void change(const std::string& before, const std::string& after) {
    process.status.replace(process.status.find(before), before.size(), after);
  }
  bool is_as_forked() const { return runtime::is_as_forked(process, parent, given); }
};

}  // namespace

TEST_CASE("going on: a process that has changed nothing is as it was forked", "[going_on]") {
  Look look;
  CHECK(look.is_as_forked());
  SECTION("whatever its name") {
    look.process.stat = stat("a) T 1 2 (b", 0, kIdle);
    CHECK(look.is_as_forked());
  }
  SECTION("and whatever its parent's hard limit is lower than what it was to have") {
    look.parent.limits = limits("100");
    CHECK_FALSE(look.is_as_forked());
    look.process.limits = limits("100", "22");
    CHECK(look.is_as_forked());
  }
}

TEST_CASE("going on: what no node keeps is noticed", "[going_on]") {
  Look look;
  SECTION("a lower limit") { look.process.limits = limits("255", "22"); }
  SECTION("a limit that was not given") {
    look.process.limits.replace(look.process.limits.find("8388608"), 7, "8388607");
  }
  SECTION("niceness") { look.process.stat = stat("python3", 1, kIdle); }
  SECTION("another class of scheduling") { look.process.stat = stat("python3", 0, kUsual); }
  SECTION("a group of processes of its own") { look.change("NSpgid:\t1", "NSpgid:\t2"); }
  SECTION("a session of its own") { look.change("NSsid:\t1", "NSsid:\t2"); }
  SECTION("no large pages") { look.change("THP_enabled:\t1", "THP_enabled:\t0"); }
  SECTION("other memory of the host") { look.change("Mems_allowed:\t1", "Mems_allowed:\t3"); }
  SECTION("fewer CPUs") { look.process.status = status("2", "1"); }
  SECTION("a filter of its own") { look.process.status = status("2", "3", "3"); }
  SECTION("a handler that would run when it goes on") { look.process.status = status("20000"); }
  CHECK_FALSE(look.is_as_forked());
}

TEST_CASE("going on: texts that lack something say no", "[going_on]") {
  Look look;
  SECTION("no limits") { look.process.limits.clear(); }
  SECTION("neither has limits") { look.process.limits = look.parent.limits = ""; }
  SECTION("half a line") { look.process.limits.resize(400); }
  SECTION("no status") { look.process.status.clear(); }
  for (const char* name : {"NSpgid", "NSsid", "THP_enabled", "Seccomp", "Seccomp_filters",
                           "Cpus_allowed", "Mems_allowed"}) {
    DYNAMIC_SECTION("neither says " << name) {
      for (ProcessTexts* texts : {&look.process, &look.parent})
        texts->status = without(texts->status, name);
    }
  }
  SECTION("no word of its handlers") { look.process.status = without(status(), "SigCgt"); }
  SECTION("no stat") { look.process.stat.clear(); }
  CHECK_FALSE(look.is_as_forked());
}

TEST_CASE("going on: locks of a file are noticed", "[going_on]") {
  CHECK(holds_lock("pos:\t0\nflags:\t02\nlock:\t1: FLOCK  ADVISORY  WRITE 7 00:2a:9 0 EOF\n"));
  CHECK(holds_lock("lock:\t1: POSIX\n"));
  CHECK_FALSE(holds_lock("pos:\t0\nflags:\t02\nblock:\t1\n"));
}

TEST_CASE("going on: a stream is as it was given", "[going_on]") {
  CHECK(is_as_given("pos:\t0\nflags:\t0100001\nmnt_id:\t7\n"));
  CHECK(is_as_given("pos:\t0\nflags:\t04001\n"));           // others put O_NONBLOCK in order
  CHECK_FALSE(is_as_given("pos:\t0\nflags:\t02000001\n"));  // O_CLOEXEC
  CHECK_FALSE(is_as_given("flags:\t01\nlock:\t1: FLOCK  ADVISORY"));
  CHECK_FALSE(is_as_given("pos:\t0\n"));
  CHECK_FALSE(is_as_given("flags:\tnone\n"));
}

TEST_CASE("going on: where the heap begins", "[going_on]") {
  CHECK(runtime::start_of_heap(stat_with("a) b", {{46, 9}, {47, 4096}, {48, 9}})) ==
        uint64_t{4096});
  CHECK_FALSE(runtime::start_of_heap(stat_with("a) b", {{47, 0}})));  // not for whoever looks
  CHECK_FALSE(runtime::start_of_heap("1 (a) T 1"));
  CHECK_FALSE(runtime::start_of_heap(""));
}

TEST_CASE("going on: the time of children that a process has waited for", "[going_on]") {
  const auto tick = sys::Nanoseconds(1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  CHECK(runtime::cpu_of_children(stat_with("a) b", {{10, 5}})).count() == 0);
  // Its ticks are rounded down.
  CHECK(runtime::cpu_of_children(stat_with("a) b", {{11, 5}})) == 2 * tick);
  CHECK(runtime::cpu_of_children(stat_with("a) b", {{11, 5}, {16, 30}, {17, 4}})) == 36 * tick);
  CHECK(runtime::cpu_of_children("").count() == 0);
}
