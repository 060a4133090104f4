#include "runtime/cell/output_files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sandbox/sys/fd.h"

namespace runtime {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    char name[] = "/tmp/zygo-harvest-XXXXXX";
    REQUIRE(::mkdtemp(name));
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& content) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << content;
  }
  OutputFiles collect(const std::vector<std::string>& globs, uint64_t most = 1 << 20) const {
    sys::OwnedFd fd(::open(path.c_str(), O_PATH | O_DIRECTORY));
    return collect_outputs(fd.get(), globs, {.bytes = {most}}, std::nullopt);
  }
  fs::path path;
};

std::vector<std::string> paths(const OutputFiles& outputs) {
  std::vector<std::string> all;
  for (const InputFile& file : outputs.files) all.push_back(file.path);
  return all;
}

// Leaves this process no free descriptor, for as long as the object lives.
struct NoDescriptors {
  NoDescriptors() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const sys::OwnedFd free(::dup(0));
    const rlimit none{static_cast<rlim_t>(free.get()), before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before); }
  rlimit before{};
};

TEST_CASE("what cannot be read for want of descriptors is not taken for all there is",
          "[output_files]") {
  Folder folder;
  folder.write("a", "1");
  sys::OwnedFd fd(::open(folder.path.c_str(), O_PATH | O_DIRECTORY));

  OutputFiles starved = [&] {
    NoDescriptors while_here;
    return collect_outputs(fd.get(), {"**"}, {.bytes = {100}}, std::nullopt);
  }();

  CHECK(starved.lack == EMFILE);
  CHECK(starved.files.empty());
  CHECK(folder.collect({"**"}).lack == 0);
}

TEST_CASE("globs match parts of paths", "[output_files]") {
  CHECK(glob_matches("*.txt", "a.txt"));
  CHECK_FALSE(glob_matches("*.txt", "d/a.txt"));
  CHECK(glob_matches("d/*.txt", "d/a.txt"));
  CHECK(glob_matches("**", "a/b/c"));
  CHECK(glob_matches("**/*.class", "Main.class"));
  CHECK(glob_matches("**/*.class", "a/b/Main.class"));
  CHECK(glob_matches("a/**/z", "a/z"));
  CHECK(glob_matches("a/**/z", "a/b/c/z"));
  CHECK_FALSE(glob_matches("a/**/z", "b/z"));
  CHECK_FALSE(glob_matches("a", "a/b"));
  CHECK_FALSE(glob_matches("a/b", "a"));
  CHECK(glob_matches("[ab]?", "bx"));
  CHECK(glob_matches("[a-c][!0-9]*", "bx"));
  CHECK_FALSE(glob_matches("[a-c][!0-9]", "b7"));
  CHECK(glob_matches("[", "["));
  CHECK(glob_matches("a*b*c", "aXbYbZc"));
  CHECK_FALSE(glob_matches("a*b*c", "aXbYbZ"));
  CHECK(glob_matches("a*", "a"));
  CHECK_FALSE(glob_matches("", "a"));
}

TEST_CASE("a glob of stars takes no longer than its length", "[output_files]") {
  std::string stars, folders, deep, name(200, 'a');
  for (int i = 0; i < 200; ++i) {
    stars += "a*";
    folders += "**/";
    deep += "d/";
  }
  CHECK_FALSE(glob_matches(stars + "b", name));
  CHECK_FALSE(glob_matches(folders + "b", deep + "a"));
}

TEST_CASE("a collection ends where its work is used up, and says so", "[output_files]") {
  Folder folder;
  for (int i = 0; i < 50; ++i) folder.write("f" + std::to_string(i), "");
  sys::OwnedFd fd(::open(folder.path.c_str(), O_PATH | O_DIRECTORY));
  const std::vector<std::string> globs(100, "*x*y*z");

  const OutputFiles enough = collect_outputs(fd.get(), globs, {.bytes = {100}}, std::nullopt);
  const OutputFiles tired =
      collect_outputs(fd.get(), globs, {.bytes = {100}, .steps = 1000}, std::nullopt);

  CHECK(enough.refused.empty());
  REQUIRE(tired.refused.size() == 1);
  CHECK(tired.refused[0].why == "the globs and files are more work than one job's outputs may be");
}

TEST_CASE("what a glob costs is counted where it is spent, in stars and in brackets",
          "[output_files]") {
  Folder folder;
  folder.write(std::string(200, 'a'), "");
  sys::OwnedFd fd(::open(folder.path.c_str(), O_PATH | O_DIRECTORY));
  std::string stars, brackets;
  for (int i = 0; i < 100; ++i) stars += "*a";
  for (int i = 0; i < 4; ++i) brackets += "*[" + std::string(1000, 'a') + "]";
  for (const std::string& glob : {stars + "b", brackets + "b"}) {
    const std::vector<std::string> globs(100, glob);
    folder.write("z", "");  // is not come to

    const OutputFiles tired = collect_outputs(fd.get(), globs, {.steps = 10'000}, std::nullopt);

    CHECK(tired.refused.size() == 1);
  }
}

TEST_CASE("nobody looks into directories to which no glob leads", "[output_files]") {
  Folder folder;
  for (int i = 0; i < 50; ++i) folder.write("elsewhere/f" + std::to_string(i), "");
  folder.write("here/f", "1");
  sys::OwnedFd fd(::open(folder.path.c_str(), O_PATH | O_DIRECTORY));

  const OutputFiles found =
      collect_outputs(fd.get(), {"here/*"}, {.bytes = {100}, .steps = 40}, std::nullopt);

  CHECK(paths(found) == std::vector<std::string>{"here/f"});
  CHECK(found.refused.empty());
}

TEST_CASE("a collection that nobody waits for ends, and so does one that is out of time",
          "[output_files]") {
  Folder folder;
  folder.write("f", "1");
  sys::OwnedFd fd(::open(folder.path.c_str(), O_PATH | O_DIRECTORY));
  const std::atomic<bool> stop{true};

  CHECK(collect_outputs(fd.get(), {"**"}, {.bytes = {100}, .stop = &stop}, std::nullopt)
            .files.empty());
  CHECK(
      collect_outputs(fd.get(), {"**"}, {.bytes = {100}, .cpu = sys::Nanoseconds(-1)}, std::nullopt)
          .files.empty());
}

TEST_CASE("files that match are read, with their bit, in the order of their paths",
          "[output_files]") {
  Folder folder;
  folder.write("b.txt", "two");
  folder.write("a.txt", "one");
  folder.write("deep/er/c.txt", "three");
  folder.write("other", "no");
  ::chmod((folder.path / "b.txt").c_str(), 0755);

  OutputFiles outputs = folder.collect({"**/*.txt"});

  CHECK(paths(outputs) == std::vector<std::string>{"a.txt", "b.txt", "deep/er/c.txt"});
  CHECK(outputs.files[0].content == "one");
  CHECK_FALSE(outputs.files[0].executable);
  CHECK(outputs.files[1].executable);
  CHECK(outputs.refused.empty());
}

TEST_CASE("links, pipes and what is too large are refused by name", "[output_files]") {
  Folder folder;
  folder.write("big", std::string(1000, 'x'));
  folder.write("small", "x");
  fs::create_symlink("/etc/passwd", folder.path / "link");
  fs::create_directory_symlink("/etc", folder.path / "folder");
  REQUIRE(::mkfifo((folder.path / "pipe").c_str(), 0644) == 0);

  OutputFiles outputs = folder.collect({"**"}, 100);

  CHECK(paths(outputs) == std::vector<std::string>{"small"});
  CHECK(outputs.refused == std::vector<OutputFiles::Refused>{
                               {"big", "larger than what is left of the limit of outputs"},
                               {"folder", "a symbolic link"},
                               {"link", "a symbolic link"},
                               {"pipe", "a pipe"}});
}

TEST_CASE("directories come back where a glob asks for them", "[output_files]") {
  Folder folder;
  folder.write("a/b/file", "x");

  CHECK(paths(folder.collect({"**"})) == std::vector<std::string>{"a/b/file"});
  CHECK(paths(folder.collect({"**/", "**"})) == std::vector<std::string>{"a/", "a/b/", "a/b/file"});
  CHECK(paths(folder.collect({"a/"})) == std::vector<std::string>{"a/"});
}

TEST_CASE("a tree without end is walked within bounds", "[output_files]") {
  Folder folder;
  std::string path;
  for (int i = 0; i < 100; ++i) path += "d/";
  folder.write(path + "x", "deep");

  OutputFiles outputs = folder.collect({"**"});

  CHECK(outputs.files.empty());
  REQUIRE(outputs.refused.size() == 1);
  CHECK(outputs.refused[0].why == "nested too deeply");
}

}  // namespace
}  // namespace runtime
