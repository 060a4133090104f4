#include "runtime/builds/blobs.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace runtime {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    char name[] = "/tmp/zygo-blobs-XXXXXX";
    REQUIRE(::mkdtemp(name));
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::string path;
};

// Makes it look as if it had been used so long ago.
void age(const Folder& folder, const std::string& digest, int seconds) {
  const std::string path = folder.path + "/blobs/" + digest.substr(7);
  const timespec times[2] = {{1'000'000'000 - seconds, 0}, {1'000'000'000 - seconds, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

constexpr const char* kOfAbc =
    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST_CASE("a blob has the name of its digest and is there once", "[blobs]") {
  Folder folder;
  BlobStore store(folder.path + "/blobs");

  CHECK(store.list().value().empty());
  CHECK(store.put("abc").value() == kOfAbc);
  CHECK(store.put("abc").value() == kOfAbc);

  CHECK(store.get(kOfAbc).value() == "abc");
  REQUIRE(store.list().value().size() == 1);
  CHECK(store.list().value()[0].bytes == 3);
}

TEST_CASE("what is not there, no digest, or damaged is said", "[blobs]") {
  Folder folder;
  BlobStore store(folder.path + "/blobs");

  CHECK(store.get(kOfAbc).error().text().find("no blob sha256:ba78") == 0);
  CHECK(store.get("sha256:../../etc/passwd").error().text().find("is no digest") !=
        std::string::npos);
  CHECK_FALSE(store.remove(kOfAbc));
  REQUIRE(store.put("abc"));
  std::ofstream(folder.path + "/blobs/" + std::string(kOfAbc).substr(7)) << "other";
  CHECK(store.get(kOfAbc).error().text().find("it is damaged") != std::string::npos);
  CHECK(store.remove(kOfAbc));
}

TEST_CASE("the store is bounded; what was used least recently leaves", "[blobs]") {
  Folder folder;
  BlobStore store(folder.path + "/blobs", sys::Bytes{25});
  const std::string old = store.put("0123456789").value(), older = store.put("abcdefghij").value();
  age(folder, old, 10);
  age(folder, older, 20);

  const std::string fresh = store.put("ABCDEFGHIJ").value();

  CHECK(store.get(old));
  CHECK(store.get(fresh));
  CHECK_FALSE(store.get(older));
  CHECK_FALSE(store.put("longer than the whole store is"));
}

TEST_CASE("a job's digests are replaced by their contents, or the field is named", "[blobs]") {
  Folder folder;
  BlobStore store(folder.path + "/blobs");
  REQUIRE(store.put("abc"));
  Job job;
  job.source_blob = kOfAbc;
  job.files = {{.path = "a", .content = "kept"},
               {.path = "b", .content = "", .executable = true, .blob = kOfAbc}};

  REQUIRE(store.fill_in(job));

  CHECK(job.source == "abc");
  CHECK(job.files[0].content == "kept");
  CHECK(job.files[1].content == "abc");
  job.tests.resize(2);
  job.tests[1].files = {{.path = "c", .content = "", .blob = kOfAbc}};
  REQUIRE(store.fill_in(job));
  CHECK(job.tests[1].files[0].content == "abc");
  job.tests[1].files[0].blob = "sha256:" + std::string(64, '0');
  CHECK(store.fill_in(job).error().text().starts_with("tests[1].files[\"c\"].blob: no blob"));
  job.files[0].blob = "sha256:" + std::string(64, '0');
  CHECK(store.fill_in(job).error().text().find("files[\"a\"].blob: no blob") == 0);
}

}  // namespace
}  // namespace runtime
