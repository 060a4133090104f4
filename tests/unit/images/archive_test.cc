#include "images/archive/archive.h"

#include <catch2/catch.hpp>

#include "tests/unit/images/tar.h"

using images::Names;
using images::TreeLimits;
using images::TreeTally;
using images::TreeWriter;
using images_test::content_of;
using images_test::exists;
using images_test::ScratchDirectory;
using images_test::Tar;

namespace {

// Unpacks into `root` beside a canary that nothing may touch.
struct Unpacked {
  ScratchDirectory scratch;
  std::string root, error;
  TreeTally tally;

  explicit Unpacked(std::string_view archive, Names names = Names::kPlain,
                    const TreeLimits& limits = {}) {
    root = scratch.make("root");
    scratch.write("canary", "untouched");
    add(archive, names, limits);
  }
  void add(std::string_view archive, Names names, const TreeLimits& limits = {}) {
    const std::string path = scratch.write("archive.tar", archive);
    auto file = sys::open(path, O_RDONLY);
    auto directory = sys::open(root, O_RDONLY | O_DIRECTORY);
    REQUIRE((file && directory));
    TreeWriter writer(std::move(directory).value(), limits);
    auto done = images::unpack_archive(file->get(), "archive.tar", names, writer);
    error = done ? "" : done.error().text();
    tally = writer.tally();
  }
  std::string operator()(const std::string& name) const { return content_of(root + "/" + name); }
  bool has(const std::string& name) const { return exists(root + "/" + name); }
  struct stat info(const std::string& name) const {
    struct stat found {};
    REQUIRE(::lstat((root + "/" + name).c_str(), &found) == 0);
    return found;
  }
};

}  // namespace

TEST_CASE("files, directories and links of an archive come out, parents made",
          "[images][archive]") {
  const Unpacked out(Tar()
                         .directory("./")
                         .directory("./usr/")
                         .file("./usr/bin/tool", "#!", 0755)
                         .symlink("bin", "usr/bin")
                         .hard_link("usr/bin/same", "./usr/bin/tool")
                         .bytes());

  CHECK(out.error.empty());
  CHECK(out("usr/bin/tool") == "#!");
  CHECK(out.info("usr/bin/same").st_ino == out.info("usr/bin/tool").st_ino);
  CHECK(std::filesystem::read_symlink(out.root + "/bin") == "usr/bin");
  CHECK(out.info("usr/bin/tool").st_mtim.tv_sec == 1700000000);
}

TEST_CASE("modes become readable for every uid, and lose set-id and others' write bits",
          "[images][archive]") {
  auto [given, kept] = GENERATE(table<unsigned, unsigned>(
      {{0000, 0644}, {0600, 0644}, {0666, 0644}, {04755, 0755}, {0700, 0755}, {02711, 0755}}));

  const Unpacked out(Tar().file("f", "x", given).bytes());

  CHECK((out.info("f").st_mode & 07777) == kept);
}

TEST_CASE("a member that would leave the directory is refused by name", "[images][archive]") {
  auto [archive, why] = GENERATE(table<std::string, std::string>({
      {Tar().file("../canary", "evil").bytes(), "member \"../canary\": its path leaves the root"},
      {Tar().file("a/../../canary", "evil").bytes(), "leaves the root by \"..\""},
      {Tar().file("/etc/passwd", "evil").bytes(), "member \"/etc/passwd\": its path is absolute"},
      {Tar().symlink("x", "..").file("x/canary", "evil").bytes(),
       "member \"x/canary\": its path leads through /x, a symbolic link"},
      {Tar().symlink("x", "/tmp").directory("x/y").bytes(), "through /x, a symbolic link"},
      {Tar().symlink("a", "b").symlink("b", "a").file("a/f", "loop").bytes(), "a symbolic link"},
      {Tar().file("f", "").file("f/g", "").bytes(), "through /f, which is no directory"},
      {Tar().hard_link("h", "../canary").bytes(), "hard link to \"../canary\", which is refused"},
      {Tar().hard_link("h", "/etc/passwd").bytes(), "its path is absolute"},
      {Tar().symlink("s", "../canary").hard_link("h", "s").bytes(),
       "hard link to /s, a symbolic link"},
      {Tar().symlink("d", "..").hard_link("h", "d/canary").bytes(), "through /d, a symbolic link"},
      {Tar().directory("d").hard_link("h", "d").bytes(), "which is no regular file"},
      {Tar().hard_link("h", "nowhere").bytes(), "hard link to /nowhere"},
      {Tar().symlink("s", "").bytes(), "a symbolic link to nothing"},
  }));
  CAPTURE(why);

  const Unpacked out(archive);

  CHECK_THAT(out.error, Catch::StartsWith("archive.tar: member \"") && Catch::Contains(why));
  CHECK(content_of(out.scratch.path("canary")) == "untouched");
}

TEST_CASE("a file in a link's place replaces the link, not what it leads to", "[images][archive]") {
  const Unpacked out(Tar().symlink("x", "../canary").file("x", "inside").bytes());

  CHECK(out.error.empty());
  CHECK(out("x") == "inside");
  CHECK(content_of(out.scratch.path("canary")) == "untouched");
}

TEST_CASE("a file that replaces a hard link leaves the other name alone", "[images][archive]") {
  const Unpacked out(Tar().file("a", "first").hard_link("b", "a").file("b", "second").bytes());

  CHECK(out("a") == "first");
  CHECK(out("b") == "second");
}

TEST_CASE("a directory that was replaced is not written to any more", "[images][archive]") {
  const Unpacked out(
      Tar().file("a/b/c", "x").file("a", "now a file").file("a/b/d", "lost").bytes());

  CHECK_THAT(out.error, Catch::Contains("through /a, which is no directory"));
}

TEST_CASE("devices, fifos and unknown types are skipped and counted", "[images][archive]") {
  const Unpacked out(
      Tar().member("null", '3').member("sda", '4').member("pipe", '6').file("f", "x").bytes());

  CHECK(out.error.empty());
  CHECK(out.tally.skipped == 3);
  CHECK_FALSE((out.has("null") || out.has("sda") || out.has("pipe")));
  CHECK(out("f") == "x");
}

TEST_CASE("an archive that is cut anywhere is refused", "[images][archive]") {
  const std::string whole =
      Tar().file("a", std::string(3000, 'a')).file("b", std::string(700, 'b')).without_mark();
  auto size = GENERATE_COPY(range(size_t{0}, whole.size() + 1, size_t{256}));
  CAPTURE(size, whole.size());

  const Unpacked out(std::string_view(whole).substr(0, size));

  CHECK_FALSE(out.error.empty());
}

TEST_CASE("what is no archive, or a damaged one, is refused", "[images][archive]") {
  std::string damaged = Tar().file("a", "x").file("b", "y").bytes();
  damaged[1024 + 3] = 'z';  // in the header of b
  auto bytes = GENERATE_COPY(as<std::string>{}, damaged, "", "hello", std::string(5000, 'x'),
                             std::string("\x1f\x8b\x08\0\0\0\0\0", 8), "{\"a\": 1}");

  const Unpacked out(bytes);

  CHECK_THAT(out.error, Catch::StartsWith("archive.tar: "));
}

TEST_CASE("bombs are refused before they go off", "[images][archive]") {
  TreeLimits limits{sys::kibibytes(64), 8, 60, 4};
  Tar many;
  for (int i = 0; i < 9; ++i) many.file("f" + std::to_string(i), "");
  auto [archive, why] = GENERATE_REF(table<std::string, std::string>({
      {Tar().file("big", std::string(70000, 'x')).bytes(), "more than 65536 bytes"},
      {Tar().member("huge", '0', "", "", 0644, uint64_t{1} << 50).bytes(), "more than 65536 bytes"},
      {Tar().file("a", std::string(40000, 'x')).file("b", std::string(40000, 'x')).bytes(),
       "member \"b\": unpacked it all has more than"},
      {many.bytes(), "more than 8 members"},
      {Tar().file("a/b/c/d/e", "").bytes(), "nested in more than 4 directories"},
      {Tar().file(std::string(40, 'a') + "/" + std::string(40, 'b'), "").bytes(),
       "more than 60 bytes"},
      {Tar().pax("path", std::string(300, 'n')).file("n", "").bytes(), "more than 255 bytes"},
      {Tar().pax("size", "99999999").file("f", "").bytes(), "more than 65536 bytes"},
  }));
  CAPTURE(why);

  const Unpacked out(archive, Names::kPlain, limits);

  CHECK_THAT(out.error, Catch::Contains(why));
}

TEST_CASE("long names of pax and of GNU, and names in UTF-8, are kept", "[images][archive]") {
  const std::string folder(200, 'd'), name = folder + "/" + std::string(200, 'f');
  const std::string umlaut =
      "gr\xc3\xbc\xc3\x9f"
      "e";
  const Unpacked out(Tar()
                         .pax("path", name + "1")
                         .file("x", "pax")
                         .gnu_long_name(name + "2")
                         .file("x", "gnu")
                         .pax("path", umlaut)
                         .file("x", "utf8")
                         .file("raw\xff", "bytes")
                         .bytes());

  CHECK(out.error.empty());
  CHECK(out(name + "1") == "pax");
  CHECK(out(name + "2") == "gnu");
  CHECK(out(umlaut) == "utf8");
  CHECK(out("raw\xff") == "bytes");
}

TEST_CASE("a hole of a sparse file stays a hole, and counts for its length", "[images][archive]") {
  const std::string map = "1\n1048576\n4\n";
  auto record = [](const std::string& text) {
    size_t length = text.size() + 2;
    while (std::to_string(length).size() + 1 + text.size() != length) ++length;
    return std::to_string(length) + " " + text;
  };
  const std::string header =  // all keys in one
      record("GNU.sparse.major=1\n") + record("GNU.sparse.minor=0\n") +
      record("GNU.sparse.name=holes\n") + record("GNU.sparse.realsize=2097152\n");
  std::string data = map;
  data.resize(512);
  const Unpacked out(Tar().member("pax", 'x', header).file("x", data + "data").bytes());

  CHECK(out.error.empty());
  CHECK(out.info("holes").st_size == 2097152);
  CHECK(out.info("holes").st_blocks < 100);
  CHECK(out("holes").substr(1048576, 4) == "data");
}

TEST_CASE("whiteouts hide what lower layers have, and nothing of their own", "[images][layers]") {
  Unpacked out(Tar().file("d/low", "1").file("gone", "1").file("e/x/low", "1").bytes());

  out.add(Tar()
              .file("d/new", "2")
              .file("d/.wh..wh..opq", "")
              .file(".wh.gone", "")
              .file(".wh.never", "")
              .file("nowhere/.wh.x", "")
              .file("e/x/new", "2")
              .file("e/.wh.x", "")
              .file(".wh..wh.plnk", "")
              .bytes(),
          Names::kWhiteouts);

  CHECK(out.error.empty());
  CHECK_FALSE((out.has("d/low") || out.has("gone") || out.has("e/x/low")));
  CHECK((out("d/new") == "2" && out("e/x/new") == "2"));
  CHECK_FALSE((out.has("d/.wh..wh..opq") || out.has(".wh.gone") || out.has(".wh..wh.plnk")));
}

TEST_CASE("an opaque root hides all of the lower layers", "[images][layers]") {
  Unpacked out(Tar().file("a/b", "1").file("c", "1").bytes());

  out.add(Tar().file("a/new", "2").file(".wh..wh..opq", "").bytes(), Names::kWhiteouts);

  CHECK_FALSE((out.has("a/b") || out.has("c")));
  CHECK(out("a/new") == "2");
}

TEST_CASE("a whiteout cannot reach outside", "[images][layers]") {
  auto name = GENERATE(as<std::string>{}, ".wh.", ".wh..", ".wh...", "../.wh.canary");
  Unpacked out(Tar().symlink("x", "..").bytes());

  out.add(Tar().file(name, "").bytes(), Names::kWhiteouts);

  CHECK_FALSE(out.error.empty());
  CHECK(content_of(out.scratch.path("canary")) == "untouched");
}

TEST_CASE("what lies below a lower layer's link goes where that leads inside of the root",
          "[images][layers]") {
  auto [target, where] = GENERATE(table<std::string, std::string>({
      {"usr/lib", "usr/lib/f"},
      {"/usr/lib", "usr/lib/f"},
      {".//usr/./lib/", "usr/lib/f"},
      {"../../../usr/lib", "usr/lib/f"},
      {"usr/also", "usr/lib/f"},
      {"not/there/yet", "not/there/yet/f"},
      {"..", "f"},
      {"/", "f"},
  }));
  CAPTURE(target);
  Unpacked out(
      Tar().directory("usr/lib").symlink("usr/also", "lib").symlink("lib", target).bytes());

  out.add(Tar().file("lib/f", "2").bytes(), Names::kWhiteouts);

  CHECK(out.error.empty());
  CHECK(out(where) == "2");
  CHECK(std::filesystem::is_symlink(out.root + "/lib"));
}

TEST_CASE("below a lower layer's link, whiteouts and hard links mean what it leads to",
          "[images][layers]") {
  Unpacked out(Tar()
                   .file("usr/lib/gone", "1")
                   .file("usr/lib/kept", "1")
                   .file("usr/lib/d/low", "1")
                   .symlink("lib", "usr/lib")
                   .symlink("x", "..")
                   .bytes());

  out.add(Tar()
              .file("usr/lib/new", "2")
              .file("lib/d/new", "2")
              .file("lib/.wh.gone", "")
              .file("lib/.wh.new", "")
              .file("lib/d/.wh..wh..opq", "")
              .hard_link("lib/same", "lib/kept")
              .hard_link("usr/lib/new", "lib/new")
              .file("x/.wh.canary", "")
              .bytes(),
          Names::kWhiteouts);

  CHECK(out.error.empty());
  CHECK_FALSE((out.has("usr/lib/gone") || out.has("usr/lib/d/low")));
  CHECK((out("usr/lib/new") == "2" && out("usr/lib/d/new") == "2"));
  CHECK(out.info("usr/lib/same").st_ino == out.info("usr/lib/kept").st_ino);
  CHECK(content_of(out.scratch.path("canary")) == "untouched");
}

TEST_CASE("no layer goes through a link of its own, or round in a circle", "[images][layers]") {
  auto [upper, why] = GENERATE(table<std::string, std::string>({
      {Tar().symlink("own", "..").file("own/canary", "evil").bytes(), "through /own, a symbolic"},
      {Tar().symlink("own", "..").file("to_own/f", "evil").bytes(),
       "through /own, a symbolic link"},
      {Tar().symlink("lib", "..").file("lib/canary", "evil").bytes(), "through /lib, a symbolic"},
      {Tar().symlink("own", "..").hard_link("h", "to_own/canary").bytes(), "through /own, a symb"},
      {Tar().symlink("own", "..").file("to_own/.wh.canary", "").bytes(),
       "through /own, a symbolic"},
      {Tar().file("a/f", "").bytes(), "too many symbolic links"},
      {Tar().file("file_too/f", "").bytes(), "through /file, which is no directory"},
      {Tar().file("long/f", "").bytes(), "a name in its path has more than 255 bytes"},
  }));
  CAPTURE(why);
  Unpacked out(Tar()
                   .directory("usr/lib")
                   .symlink("lib", "usr/lib")
                   .symlink("to_own", "own/deeper")
                   .symlink("a", "b")
                   .symlink("b", "a")
                   .file("file", "")
                   .symlink("file_too", "file")
                   .pax("linkpath", std::string(300, 'n'))
                   .symlink("long", "n")
                   .bytes());
  REQUIRE(out.error.empty());

  out.add(upper, Names::kWhiteouts);

  CHECK_THAT(out.error, Catch::Contains(why));
  CHECK(content_of(out.scratch.path("canary")) == "untouched");
}

TEST_CASE("names like whiteouts are ordinary outside of layers", "[images][archive]") {
  const Unpacked out(Tar().file("keep", "1").file(".wh.keep", "2").bytes());

  CHECK((out("keep") == "1" && out(".wh.keep") == "2"));
}
