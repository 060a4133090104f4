#include "runtime/builds/build_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "images/sha256.h"
#include "sandbox/sys/file.h"

namespace runtime {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    char name[] = "/tmp/zygo-builds-XXXXXX";
    REQUIRE(::mkdtemp(name));
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::string builds() const { return path + "/builds"; }
  std::string entry(const std::string& key) const { return builds() + "/" + key; }
  std::string path;
};

const std::string kKey(64, 'a'), kOther(64, 'b');

StoredBuild some_build(size_t bytes = 10) {
  return {{{"main", std::string(bytes, 'x'), true}, {"lib/a.txt", "a\0b", false}}, 1234};
}

// Keeps a build as another process would.
void keep(const Folder& folder, const std::string& key, const StoredBuild& build = some_build()) {
  BuildCache(folder.builds()).put(key, build);
}

void overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::trunc | std::ios::binary) << bytes;
}

TEST_CASE("a build that one cache has kept is found by the next, and by its key only", "[builds]") {
  Folder folder;
  keep(folder, kKey);

  BuildCache later(folder.builds());

  CHECK(later.get(kKey) == some_build());
  CHECK_FALSE(later.get(kOther));
}

TEST_CASE("the directory of builds, and each of them, is its owner's alone", "[builds]") {
  Folder folder;
  keep(folder, kKey);
  struct stat info {};

  REQUIRE(::stat(folder.builds().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  REQUIRE(::stat(folder.entry(kKey).c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("a damaged, cut, foreign or swapped entry is no build, and is removed", "[builds]") {
  Folder folder;
  BuildCache cache(folder.builds());
  const std::string good = encode_build(kKey, some_build());
  std::string flipped = good;
  flipped[good.size() - 1] ^= 1;
  for (const std::string& bytes :
       {flipped, good.substr(0, good.size() - 1), good + "x", std::string(),
        std::string("\x7f"
                    "ELF"),
        encode_build(kOther, some_build())}) {
    keep(folder, kKey);
    overwrite(folder.entry(kKey), bytes);

    CHECK_FALSE(cache.get(kKey));
    CHECK_FALSE(fs::exists(folder.entry(kKey)));
  }
  keep(folder, kKey);
  CHECK(cache.get(kKey) == some_build());
}

TEST_CASE("an entry that others can write to is not believed", "[builds]") {
  Folder folder;
  BuildCache cache(folder.builds());
  keep(folder, kKey);
  REQUIRE(::chmod(folder.entry(kKey).c_str(), 0666) == 0);

  CHECK_FALSE(cache.get(kKey));
  CHECK_FALSE(fs::exists(folder.entry(kKey)));
}

TEST_CASE("a link in the place of an entry is not followed", "[builds]") {
  Folder folder;
  BuildCache cache(folder.builds());
  keep(folder, kKey);
  fs::rename(folder.entry(kKey), folder.path + "/elsewhere");
  fs::create_symlink(folder.path + "/elsewhere", folder.entry(kKey));

  CHECK_FALSE(cache.get(kKey));
  CHECK(fs::exists(folder.path + "/elsewhere"));
}

TEST_CASE("a directory that others can write to is not used, and why is said", "[builds]") {
  Folder folder;
  keep(folder, kKey);
  REQUIRE(::chmod(folder.builds().c_str(), 0777) == 0);

  const auto checked = BuildCache::check(folder.builds());

  REQUIRE_FALSE(checked);
  CHECK(checked.error().text() == folder.builds() + ": others may write to it (chmod go-w)");
  CHECK_FALSE(BuildCache(folder.builds()).get(kKey));
  keep(folder, kOther);
  CHECK_FALSE(fs::exists(folder.entry(kOther)));
}

TEST_CASE("what belongs to another user is not believed", "[builds]") {
  if (::geteuid() != 0) {
    WARN("skipped: only root can give a file away");
    return;
  }
  Folder folder;
  BuildCache cache(folder.builds());
  keep(folder, kKey);
  REQUIRE(::chown(folder.entry(kKey).c_str(), 12345, 12345) == 0);
  CHECK_FALSE(cache.get(kKey));

  REQUIRE(::chown(folder.builds().c_str(), 12345, 12345) == 0);
  CHECK(BuildCache::check(folder.builds()).error().text() ==
        folder.builds() + ": belongs to user 12345, not to 0 who runs zygo");
}

TEST_CASE("the cache of builds is bounded; what was used least recently leaves", "[builds]") {
  Folder folder;
  const sys::Bytes room{2 * encode_build(kKey, some_build(1000)).size() + 100};
  auto put = [&](const std::string& key, size_t bytes) {
    BuildCache(folder.builds(), room).put(key, some_build(bytes));
  };
  auto age = [&](const std::string& key, int seconds) {
    const timespec then{1'000'000'000 - seconds, 0}, times[2] = {then, then};
    REQUIRE(::utimensat(AT_FDCWD, folder.entry(key).c_str(), times, 0) == 0);
  };
  put(kKey, 1000), put(kOther, 1000);
  age(kKey, 20), age(kOther, 10);
  REQUIRE(BuildCache(folder.builds(), room).get(kKey));  // used just now

  const std::string third(64, 'c');
  put(third, 1000);

  BuildCache cache(folder.builds(), room);
  CHECK(cache.get(kKey));
  CHECK_FALSE(cache.get(kOther));
  CHECK(cache.get(third));
  put(kOther, 10'000);  // more than the whole
  CHECK(cache.get(kKey));
  CHECK_FALSE(cache.get(kOther));
}

TEST_CASE("writers at once leave whole entries, and nothing else", "[builds]") {
  Folder folder;
  {
    BuildCache one(folder.builds()), two(folder.builds());
    for (int i = 0; i < 30; ++i) {
      const std::string key = images::sha256_of(std::to_string(i));
      one.put(key, some_build(50'000));
      two.put(key, some_build(50'000));
    }
  }

  BuildCache later(folder.builds());
  for (int i = 0; i < 30; ++i)
    CHECK(later.get(images::sha256_of(std::to_string(i))) == some_build(50'000));
  CHECK(std::distance(fs::directory_iterator(folder.builds()), fs::directory_iterator()) == 30);
}

TEST_CASE("an entry with its digest in order is still read with suspicion", "[builds]") {
  auto with = [](StoredBuild build) { return decode_build(encode_build(kKey, build), kKey); };

  CHECK(with(some_build()));
  CHECK(with({{}, 1}).error().text() == "holds no files");
  CHECK(with({{{"../main", "x", true}}, 1}).error().text() ==
        "has a file whose path will not do: a path has no \".\" or \"..\"");
  CHECK_FALSE(with({{{"/etc/passwd", "x", true}}, 1}));
  CHECK_FALSE(with({some_build().files, -1}));
}

}  // namespace
}  // namespace runtime
