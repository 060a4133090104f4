#include "sandbox/mounts/wipe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "sandbox/sys/fd.h"

namespace fs = std::filesystem;

namespace {

// A directory to be wiped, beside one that must survive.
struct Place {
  Place() {
    char name[] = "/tmp/zygo-wipe-XXXXXX";
    base = ::mkdtemp(name);
    scratch = base / "scratch";
    outside = base / "outside";
    fs::create_directory(scratch);
    fs::create_directory(outside);
    std::ofstream(outside / "precious") << "kept";
  }
  ~Place() { fs::remove_all(base); }
  void wipe() const {
    sys::OwnedFd directory(::open(scratch.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    sandbox::wipe_directory(directory.get());
  }
  fs::path base, scratch, outside;
};

}  // namespace

TEST_CASE("files, links, fifos and directories that may not be entered are gone after a wipe",
          "[wipe]") {
  Place place;
  std::ofstream(place.scratch / "file") << "x";
  std::ofstream(place.scratch / ".hidden") << "x";
  ::mkfifo((place.scratch / "fifo").c_str(), 0600);
  fs::create_directories(place.scratch / "a/b/c");
  std::ofstream(place.scratch / "a/b/c/deep") << "x";
  ::chmod((place.scratch / "a/b").c_str(), 0);

  place.wipe();

  CHECK(fs::is_empty(place.scratch));
}

TEST_CASE("a wipe removes links and never what they point to", "[wipe]") {
  Place place;
  fs::create_directory_symlink(place.outside, place.scratch / "link");
  fs::create_symlink(place.outside / "precious", place.scratch / "file-link");
  fs::create_hard_link(place.outside / "precious", place.scratch / "hard");

  place.wipe();

  CHECK(fs::is_empty(place.scratch));
  CHECK(fs::file_size(place.outside / "precious") == 4);
}

TEST_CASE("depth beyond PATH_MAX and names that a wipe would like to use itself do not stop it",
          "[wipe]") {
  Place place;
  std::ofstream(place.scratch / ".wipe0") << "x";
  std::ofstream(place.scratch / ".wipe1") << "x";
  sys::OwnedFd at(::open(place.scratch.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int depth = 0; depth < 600; ++depth) {
    REQUIRE(::mkdirat(at.get(), "directory", 0700) == 0);
    at = sys::OwnedFd(::openat(at.get(), "directory", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(at);
  }
  at.reset();

  place.wipe();

  CHECK(fs::is_empty(place.scratch));
}
