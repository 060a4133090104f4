#include "runtime/host/preload.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

namespace runtime {
namespace {

// A folder that everybody may enter, in one that everybody may.
class Place {
 public:
  Place() {
    REQUIRE(::mkdtemp(path_.data()));
    open_to_all("");
  }
  ~Place() { std::filesystem::remove_all(path_); }

  std::string library(const std::string& folder) {
    std::filesystem::create_directory(path_ + folder);
    open_to_all(folder);
    const std::string file = path_ + folder + "/l.so";
    std::ofstream(file) << "x";
    REQUIRE(::chmod(file.c_str(), 0644) == 0);
    return file;
  }
  std::string operator+(const std::string& below) const { return path_ + below; }

 private:
  void open_to_all(const std::string& folder) {
    REQUIRE(::chmod((path_ + folder).c_str(), 0755) == 0);
  }
  std::string path_ = "/tmp/zygo-preload-XXXXXX";
};

}  // namespace

TEST_CASE("a library that everybody may read can be preloaded", "[host][preload]") {
  Place place;
  const std::string library = place.library("/open");

  CHECK(objection_to_preload(library, Reader::kOthers).empty());
  CHECK(objection_to_preload(library, Reader::kOurselves).empty());
}

TEST_CASE("one whose path ld.so takes apart cannot", "[host][preload]") {
  Place place;
  for (const char* folder : {"/a b", "/a:b", "/$ORIGIN"}) {
    const std::string library = place.library(folder);
    CHECK(objection_to_preload(library, Reader::kOurselves) ==
          library + " has a space, a colon or a $ in its path, which ld.so cannot preload");
  }
}

TEST_CASE("one in a closed folder is for our own id only", "[host][preload]") {
  Place place;
  const std::string library = place.library("/closed");
  REQUIRE(::chmod((place + "/closed").c_str(), 0700) == 0);

  CHECK(objection_to_preload(library, Reader::kOurselves).empty());
  CHECK(objection_to_preload(library, Reader::kOthers) ==
        library + " cannot be read by jobs: " + (place + "/closed") + " is closed to them");
}

TEST_CASE("one that others may not read is for our own id only", "[host][preload]") {
  Place place;
  const std::string library = place.library("/open");
  REQUIRE(::chmod(library.c_str(), 0600) == 0);

  CHECK(objection_to_preload(library, Reader::kOthers) ==
        library + " cannot be read by jobs: " + library + " is closed to them");
}

TEST_CASE("one that a link in an open folder leads to counts where it lies", "[host][preload]") {
  Place place;
  const std::string library = place.library("/closed"), link = place + "/link.so";
  REQUIRE(::chmod((place + "/closed").c_str(), 0700) == 0);
  std::filesystem::create_symlink(library, link);

  CHECK(objection_to_preload(link, Reader::kOthers).starts_with(link + " cannot be read by jobs"));
}

TEST_CASE("one that is not there is named", "[host][preload]") {
  CHECK(objection_to_preload("/nowhere/l.so", Reader::kOurselves) ==
        "/nowhere/l.so: No such file or directory");
}

}  // namespace runtime
