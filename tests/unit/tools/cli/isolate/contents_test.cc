#include "tools/cli/isolate/contents.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cli {
namespace {

namespace fs = std::filesystem;
using runtime::InputFile;

struct Directory {
  Directory() {
    char name[] = "/tmp/zygo-isolate-XXXXXX";
    REQUIRE(::mkdtemp(name));
    path = name;
    fs::create_directory(path / "box");
  }
  ~Directory() { fs::remove_all(path); }
  HostFolder folder(HostFolder::Writes writes = HostFolder::Writes::kBox) const {
    return {"/box", (path / "box").string(), kBoxInScratch, writes};
  }
  void write(const std::string& name, const std::string& content, mode_t mode = 0644) const {
    fs::create_directories((path / "box" / name).parent_path());
    std::ofstream(path / "box" / name) << content;
    ::chmod((path / "box" / name).c_str(), mode);
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path / name).rdbuf();
    return text.str();
  }
  bool has(const std::string& name) const { return fs::exists(fs::symlink_status(path / name)); }
  fs::path path;
};

std::vector<std::string> paths(const std::vector<InputFile>& files) {
  std::vector<std::string> all;
  for (const InputFile& file : files) all.push_back(file.path);
  return all;
}

}  // namespace

TEST_CASE("the files and directories of a box go in, and nothing else", "[cli][isolate]") {
  Directory here;
  here.write("a", "1", 0755);
  here.write("d/b", "22");
  fs::create_directory(here.path / "box/empty");
  fs::create_symlink("/etc/passwd", here.path / "box/link");
  ::mkfifo((here.path / "box/pipe").c_str(), 0666);

  const auto taken = take_in(here.folder());

  REQUIRE(taken.ok());
  CHECK(paths(taken->files) ==
        std::vector<std::string>{"box/a", "box/d/", "box/d/b", "box/empty/"});
  CHECK(taken->files[0] == InputFile{"box/a", "1", true});
  CHECK(taken->passed_over.size() == 2);
  CHECK(taken->pages_bytes == 8192);
}

TEST_CASE("a box becomes what the program left of it", "[cli][isolate]") {
  Directory here;
  here.write("same", "s");
  here.write("changed", "old");
  here.write("d/gone", "g");
  fs::create_symlink("elsewhere", here.path / "box/link");
  const Contents taken = *take_in(here.folder());
  const auto before = fs::last_write_time(here.path / "box/same");

  const std::vector<InputFile> left = {{"box/same", "s", false},
                                       {"box/changed", "new", true},
                                       {"box/new/", "", true},
                                       {"box/new/file", "n", false},
                                       {"other", "not of the box", false}};
  REQUIRE(bring_back(here.folder(), taken.taken, left).ok());

  CHECK(fs::last_write_time(here.path / "box/same") == before);
  CHECK(here.read("box/changed") == "new");
  CHECK(::access((here.path / "box/changed").c_str(), X_OK) == 0);
  CHECK(here.read("box/new/file") == "n");
  CHECK_FALSE(here.has("box/d"));
  CHECK(here.has("box/link"));
  CHECK_FALSE(here.has("other"));
}

TEST_CASE("a file may become a directory, and a directory a file", "[cli][isolate]") {
  Directory here;
  here.write("file", "x");
  here.write("folder/x", "x");
  const Contents taken = *take_in(here.folder());

  REQUIRE(
      bring_back(here.folder(), taken.taken,
                 {{"box/file/", "", true}, {"box/file/y", "y", false}, {"box/folder", "f", false}})
          .ok());

  CHECK(here.read("box/file/y") == "y");
  CHECK(here.read("box/folder") == "f");
}

TEST_CASE("nothing is written through a link or above the box", "[cli][isolate]") {
  Directory here;
  here.write("../victim", "v");
  fs::create_symlink("../victim", here.path / "box/link");
  fs::create_directory_symlink("..", here.path / "box/up");
  const Contents taken = *take_in(here.folder());

  CHECK(bring_back(here.folder(), taken.taken, {{"box/link", "over", false}}).ok());
  CHECK_FALSE(bring_back(here.folder(), taken.taken, {{"box/up/victim", "over", false}}).ok());
  CHECK_FALSE(bring_back(here.folder(), taken.taken, {{"box/..", "over", false}}).ok());

  CHECK(bring_back(here.folder(), taken.taken,
                   {{"box/up/", "", true}, {"box/up/victim", "over", false}})
            .ok());

  CHECK(here.read("box/up/victim") == "over");
  CHECK(here.read("victim") == "v");
  CHECK(here.read("box/link") == "over");
  fs::create_directory_symlink("..", here.path / "box/again");
  CHECK_FALSE(open_beneath(here.folder().outside, "again/victim", O_RDONLY).ok());
}

TEST_CASE("a file that a client linked into the box is not changed elsewhere", "[cli][isolate]") {
  Directory here;
  here.write("../shared", "s");
  fs::create_hard_link(here.path / "shared", here.path / "box/linked");
  const Contents taken = *take_in(here.folder());

  REQUIRE(bring_back(here.folder(), taken.taken, {{"box/linked", "changed", false}}).ok());

  CHECK(here.read("box/linked") == "changed");
  CHECK(here.read("shared") == "s");
}

TEST_CASE("of a directory of the host, a program changes what others may", "[cli][isolate]") {
  Directory here;
  here.write("read", "r", 0644);
  here.write("secret", "s", 0640);
  here.write("written", "", 0622);
  ::chmod((here.path / "box").c_str(), 0755);
  const HostFolder folder = here.folder(HostFolder::Writes::kOthers);
  const Contents taken = *take_in(folder);
  CHECK(paths(taken.files) == std::vector<std::string>{"box/read", "box/written"});

  REQUIRE(
      bring_back(folder, taken.taken,
                 {{"box/secret", "x", false}, {"box/written", "w", false}, {"box/new", "n", false}})
          .ok());

  CHECK(here.read("box/read") == "r");
  CHECK(here.read("box/secret") == "s");
  CHECK(here.read("box/written") == "w");
  CHECK_FALSE(here.has("box/new"));
}

}  // namespace cli
