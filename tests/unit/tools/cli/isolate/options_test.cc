#include "tools/cli/isolate/options.h"

#include <catch2/catch.hpp>

#include "tools/cli/isolate/layout.h"

namespace cli {
namespace {

using Words = std::vector<std::string>;

IsolateOptions read(const Words& words) {
  auto parsed = parse_isolate_options(words);
  if (const auto* refusal = std::get_if<IsolateRefusal>(&parsed)) FAIL(refusal->sentence);
  return std::get<IsolateOptions>(std::move(parsed));
}

std::string refusal(const Words& words) {
  auto parsed = parse_isolate_options(words);
  const auto* refused = std::get_if<IsolateRefusal>(&parsed);
  return refused ? refused->sentence : "";
}

DirectoryRule rule(const std::string& text) {
  auto parsed = parse_directory_rule(text);
  REQUIRE(std::holds_alternative<DirectoryRule>(parsed));
  return std::get<DirectoryRule>(std::move(parsed));
}

std::string refused_layout(const std::string& text) {
  auto made = lay_out({rule(text)}, "/boxes/1/box");
  const auto* refused = std::get_if<IsolateRefusal>(&made);
  return refused ? refused->sentence : "";
}

}  // namespace

TEST_CASE("isolate's options mean what its manual says", "[cli][isolate]") {
  const IsolateOptions options = read({"-b",         "12",          "--cg",  "--cg-mem=1024",
                                       "-t1.5",      "--wall-time", "10",    "-x",
                                       "0.5",        "-p",          "-k",    "64",
                                       "--fsize=10", "-n0",         "-E",    "A=1",
                                       "--env=HOME", "--meta=m",    "-ii",   "-vv",
                                       "--chdir",    "box//sub/.",  "--run", "--",
                                       "./a",        "-t",          "2"});

  CHECK(options.mode == IsolateOptions::Mode::kRun);
  CHECK(options.box == 12);
  CHECK(options.groups);
  CHECK(options.group_memory == sys::kibibytes(1024));
  CHECK(options.time == sys::Milliseconds(1500));
  CHECK(options.wall_time == sys::Milliseconds(10000));
  CHECK(options.extra_time == sys::Milliseconds(500));
  CHECK_FALSE(options.processes);
  CHECK(options.stack == sys::kibibytes(64));
  CHECK(options.file_size == sys::kibibytes(10));
  CHECK(options.open_files == 0);
  CHECK(options.environment.size() == 2);
  CHECK(options.meta == "m");
  CHECK(options.stdin_file == "i");
  CHECK(options.verbose == 2);
  CHECK(options.directory == "/box/sub");
  CHECK(options.command == Words{"./a", "-t", "2"});
}

TEST_CASE("isolate's options may be cut short, and come after the program", "[cli][isolate]") {
  const IsolateOptions options = read({"--run", "./a", "--wall=3", "--proc=4"});

  CHECK(options.wall_time == sys::Milliseconds(3000));
  CHECK(options.processes == 4u);
  CHECK(options.command == Words{"./a"});
}

TEST_CASE("a limit of 0 is none, as isolate has it", "[cli][isolate]") {
  const IsolateOptions options = read({"-t0", "-m0", "-p0", "--run", "x"});

  CHECK_FALSE(options.time);
  CHECK_FALSE(options.address_space);
  CHECK_FALSE(options.processes);
}

TEST_CASE("what isolate is asked for and zygo has not is refused by name", "[cli][isolate]") {
  auto option =
      GENERATE(as<std::string>{}, "--share-net", "--inherit-fds", "--tty-hack", "--special-files",
               "--no-default-dirs", "--as-uid=3", "--core=1", "--syscalls=30", "--print-cg-root");

  CHECK(refusal({option, "--run", "x"}).starts_with(option.substr(0, option.find('='))));
}

TEST_CASE("mistakes on isolate's command line are refused", "[cli][isolate]") {
  auto words = GENERATE(values<Words>({{},
                                       {"--run"},
                                       {"--init", "x"},
                                       {"--init", "--cleanup"},
                                       {"--nonsense", "--init"},
                                       {"--meta"},
                                       {"-t", "-1", "--run", "x"},
                                       {"-t", "nan", "--run", "x"},
                                       {"-b", "99999999999", "--init"},
                                       {"-q", "10", "--init"},
                                       {"--cg-mem=5", "--run", "x"},
                                       {"-E", "=x", "--run", "x"},
                                       {"-c", "../x", "--run", "x"},
                                       {"-d", "a:odd", "--run", "x"}}));

  CHECK_FALSE(refusal(words).empty());
}

TEST_CASE("directory rules are read as isolate reads them", "[cli][isolate]") {
  CHECK(rule("etc") == DirectoryRule{.inside = "/etc", .outside = "/etc"});
  CHECK(rule("/a/=/b:rw:maybe") ==
        DirectoryRule{.inside = "/a", .outside = "/b", .writable = true, .optional = true});
  CHECK(rule("x=") == DirectoryRule{.inside = "/x", .outside = ""});
  CHECK(rule("proc=proc:fs").file_system == "proc");
  CHECK(rule("tmp:tmp").file_system == "tmp");
  for (const char* wrong : {"", "/", "../a=/b", "a=/b:norec", "a=/b:dev", "a=:rw"}) {
    INFO(wrong);
    CHECK(std::holds_alternative<std::string>(parse_directory_rule(wrong)));
  }
}

TEST_CASE("the default directories may be named again", "[cli][isolate]") {
  for (const char* usual : {"usr", "bin", "dev:dev", "proc=proc:fs", "tmp:tmp", "dev/shm=tmpfs:fs",
                            "/usr=/usr", "/nowhere=/nowhere-at-all:maybe", "/none="}) {
    INFO(usual);
    auto made = lay_out({rule(usual)}, "/boxes/1/box");
    REQUIRE(std::holds_alternative<Layout>(made));
    CHECK(std::get<Layout>(made).mounts.size() == 1);  // the link to the box
  }
}

TEST_CASE("nothing is mounted into what another mount shows", "[cli][isolate]") {
  for (const char* wrong :
       {"/usr/local/x=/etc", "/lib/x=/etc", "/etc/a/b=/usr", "/proc=/etc", "/dev/x=/etc",
        "/.zygo=/etc", "/box/x=/etc", "/tmp/x=/etc", "/usr=/etc", "/data=/etc:rw", "/box=/etc",
        "/box=", "/usr=", "/none=/nowhere-at-all", "/sys=sysfs:fs"}) {
    INFO(wrong);
    CHECK(refused_layout(wrong).starts_with("--dir="));
  }
  auto nested = lay_out({rule("/a=/usr"), rule("/a/b=/etc")}, "/boxes/1/box");
  CHECK(std::holds_alternative<IsolateRefusal>(nested));
}

TEST_CASE("a later rule takes the place of an earlier one", "[cli][isolate]") {
  auto made = lay_out({rule("/a=/etc"), rule("/b=/usr:noexec"), rule("/a=")}, "/boxes/1/box");

  const Layout& layout = std::get<Layout>(made);
  REQUIRE(layout.mounts.size() == 2);
  CHECK(layout.mounts[1].kind == sandbox::ImageEntry::Kind::kData);
  CHECK(layout.mounts[1].target == "/b");
}

TEST_CASE("paths of the sandbox are found behind the longest rule", "[cli][isolate]") {
  auto made = lay_out({rule("/tmp=/var:rw"), rule("/data=/usr")}, "/boxes/1/box");
  const Layout& layout = std::get<Layout>(made);

  CHECK(find_place(layout, "/box/a/b")->folder->outside == "/boxes/1/box");
  CHECK(find_place(layout, "/box/a/b")->rest == "a/b");
  CHECK(find_place(layout, "/tmp/x")->folder->writes == HostFolder::Writes::kOthers);
  CHECK(find_place(layout, "/data/x")->folder->writes == HostFolder::Writes::kNothing);
  CHECK_FALSE(find_place(layout, "/boxer/x"));
  CHECK_FALSE(find_place(layout, "/etc/passwd"));
}

}  // namespace cli
