#include "images/store.h"

#include <sys/file.h>

#include <catch2/catch.hpp>

#include "images/image_root.h"
#include "images/sha256.h"
#include "tests/unit/images/tar.h"

using images::Store;
using images_test::content_of;
using images_test::exists;
using images_test::ScratchDirectory;
using images_test::Tar;

namespace {

size_t entries_in(const std::string& directory) {
  std::error_code none;
  size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator(directory, none)) {
    static_cast<void>(each);
    ++count;
  }
  return count;
}

struct Fixture {
  ScratchDirectory scratch;
  std::string root = scratch.path("store");
  Store store{root};
  std::string tar = scratch.write("a.tar", Tar().file("usr/bin/tool", "#!", 0755).bytes());

  size_t contents() const { return entries_in(root + "/images"); }
  size_t names() const { return entries_in(root + "/names"); }
};

// An OCI layout, blob by blob.
class Layout {
 public:
  explicit Layout(const ScratchDirectory& scratch) : scratch_(scratch) {
    scratch.write("oci/oci-layout", R"({"imageLayoutVersion": "1.0.0"})");
  }
  std::string blob(const std::string& type, const std::string& text,
                   const std::string& more = "") const {
    const std::string hex = images::sha256_of(text);
    scratch_.write("oci/blobs/sha256/" + hex, text);
    return R"({"mediaType": ")" + type + R"(", "digest": "sha256:)" + hex + R"(", "size": )" +
           std::to_string(text.size()) + more + "}";
  }
  std::string manifest(const std::string& layers, const std::string& platform,
                       const std::string& config = kConfig) const {
    return blob("application/vnd.oci.image.manifest.v1+json",
                R"({"schemaVersion": 2, "config": )" +
                    blob("application/vnd.oci.image.config.v1+json", config) + R"(, "layers": [)" +
                    layers + "]}",
                platform);
  }
  std::string layer(const Tar& tar) const {
    return blob("application/vnd.oci.image.layer.v1.tar", tar.bytes());
  }
  std::string index(const std::string& manifests) const {
    scratch_.write("oci/index.json", R"({"schemaVersion": 2, "manifests": [)" + manifests + "]}");
    return scratch_.path("oci");
  }

  static constexpr const char* kConfig =
      R"({"os": "linux", "config": {"Env": ["A=1"], "WorkingDir": "/w", "User": "7",
          "Entrypoint": ["/e"], "Cmd": ["c"]}})";

 private:
  const ScratchDirectory& scratch_;
};

std::string platform(const std::string& architecture) {
  return R"(, "platform": {"os": "linux", "architecture": ")" + architecture + R"("})";
}

std::string here() {
#if defined(__aarch64__)
  return platform("arm64");
#else
  return platform("amd64");
#endif
}

}  // namespace

TEST_CASE_METHOD(Fixture, "an imported archive is found, listed and removed", "[images][store]") {
  auto imported = store.import("tools", tar);

  REQUIRE(imported);
  auto found = store.find("tools");
  REQUIRE(found);
  CHECK(found->digest == imported->image.digest);
  CHECK(content_of(found->rootfs + "/usr/bin/tool") == "#!");
  CHECK(found->source == tar);
  CHECK((found->bytes == 2 && found->entries == 3));
  CHECK(store.list()->size() == 1);
  CHECK(store.remove("tools"));
  CHECK((contents() == 0 && names() == 0));
}

TEST_CASE_METHOD(Fixture, "a store that does not exist is empty, and is not made by asking",
                 "[images][store]") {
  CHECK(store.list()->empty());
  CHECK_THAT(store.find("x").error().text(), Catch::StartsWith("no image is named \"x\""));
  CHECK_THAT(store.remove("x").error().text(), Catch::StartsWith("no image is named \"x\""));
  CHECK_FALSE(exists(root));
}

TEST_CASE_METHOD(Fixture, "the same content is stored once, and goes with its last name",
                 "[images][store]") {
  const std::string other = scratch.write(
      "b.tar",
      Tar().directory("usr").file("usr/bin/x", "").file("usr/bin/tool", "#!", 0700).bytes());
  std::filesystem::create_directories(scratch.path("d/usr/bin"));
  scratch.write("d/usr/bin/tool", "#!");
  ::chmod(scratch.path("d/usr/bin/tool").c_str(), 0755);

  auto first = store.import("one", tar);
  auto second = store.import("two", scratch.path("d"));
  auto third = store.import("three", other);

  REQUIRE((first && second && third));
  CHECK(first->image.digest == second->image.digest);
  CHECK((!first->stored_before && second->stored_before));
  CHECK(first->image.digest != third->image.digest);
  CHECK(contents() == 2);
  CHECK(store.remove("one"));
  CHECK(exists(second->image.rootfs));
  CHECK(store.remove("two"));
  CHECK(contents() == 1);
}

TEST_CASE_METHOD(Fixture, "a name that is imported again stands for the new content alone",
                 "[images][store]") {
  REQUIRE(store.import("n", tar));

  auto again = store.import("n", scratch.write("b.tar", Tar().file("f", "new").bytes()));

  REQUIRE(again);
  CHECK(store.find("n")->digest == again->image.digest);
  CHECK((contents() == 1 && names() == 1));
}

TEST_CASE_METHOD(Fixture, "a failed import leaves nothing", "[images][store]") {
  const std::string bad = scratch.write("bad.tar", Tar().file("a", "x").file("../b", "").bytes());

  auto imported = store.import("n", bad);

  REQUIRE_FALSE(imported);
  CHECK_THAT(imported.error().text(), Catch::StartsWith(bad + ": member \"../b\""));
  CHECK((contents() == 0 && names() == 0));
  CHECK(imported.error().code() == 0);
}

TEST_CASE_METHOD(Fixture, "a watch can stop an import, which leaves nothing", "[images][store]") {
  auto imported =
      store.import("n", tar, [](const images::Milestone&) { return images::Wish::kStop; });

  REQUIRE_FALSE(imported);
  CHECK(imported.error().code() == ECANCELED);
  CHECK((contents() == 0 && names() == 0));
}

TEST_CASE_METHOD(Fixture, "what a crash left goes with the next import; what is locked stays",
                 "[images][store]") {
  REQUIRE(store.import("n", tar));
  scratch.write("store/images/tmp-dead/rootfs/f", "x");
  scratch.write("store/images/sha256-nameless/rootfs/f", "x");
  scratch.write("store/images/tmp-alive/rootfs/f", "x");
  auto owner = sys::open(root + "/images/tmp-alive", O_RDONLY | O_DIRECTORY);
  REQUIRE(::flock(owner->get(), LOCK_EX) == 0);

  REQUIRE(store.import("m", tar));

  CHECK_FALSE(exists(root + "/images/tmp-dead"));
  CHECK_FALSE(exists(root + "/images/sha256-nameless"));
  CHECK(exists(root + "/images/tmp-alive/rootfs/f"));
}

TEST_CASE_METHOD(Fixture, "a name that cannot be read is named, and its content is kept",
                 "[images][store]") {
  auto kept = store.import("n", tar);
  REQUIRE(kept);
  scratch.write("store/names/n.json", "{\"digest\": 7}");

  CHECK_THAT(store.find("n").error().text(), Catch::Contains("names/n.json: digest: must be a"));
  REQUIRE(store.import("m", scratch.write("b.tar", Tar().file("f", "").bytes())));
  CHECK(exists(kept->image.rootfs));
}

TEST_CASE_METHOD(Fixture, "a name that could be a path or an option is refused",
                 "[images][store]") {
  auto name = GENERATE(as<std::string>{}, "", "..", "a/b", ".x", "-x", "a b", "a\n", "\xff",
                       std::string(129, 'a'));

  CHECK_THAT(store.import(name, tar).error().text(), Catch::Contains("is not a name for an image"));
  CHECK_FALSE(exists(root));
}

TEST_CASE_METHOD(Fixture, "a directory is copied with its links and holes, and without devices",
                 "[images][store]") {
  scratch.write("d/a", "data");
  std::filesystem::create_hard_link(scratch.path("d/a"), scratch.path("d/b"));
  std::filesystem::create_symlink("/etc/passwd", scratch.path("d/s"));
  REQUIRE(::mkfifo(scratch.path("d/fifo").c_str(), 0600) == 0);
  scratch.write("d/hole", "x");
  REQUIRE(::truncate(scratch.path("d/hole").c_str(), 1 << 22) == 0);

  auto imported = store.import("n", scratch.path("d"));

  REQUIRE(imported);
  const std::string rootfs = imported->image.rootfs;
  struct stat a {
  }, b{}, hole{};
  ::stat((rootfs + "/a").c_str(), &a), ::stat((rootfs + "/b").c_str(), &b);
  ::stat((rootfs + "/hole").c_str(), &hole);
  CHECK((a.st_ino == b.st_ino && content_of(rootfs + "/b") == "data"));
  CHECK(std::filesystem::read_symlink(rootfs + "/s") == "/etc/passwd");
  CHECK((hole.st_size == 1 << 22 && hole.st_blocks < 100));
  CHECK(imported->skipped == 1);
}

TEST_CASE_METHOD(Fixture, "the directory that holds the store cannot be imported",
                 "[images][store]") {
  auto imported = store.import("n", scratch.path());

  REQUIRE_FALSE(imported);
  CHECK_THAT(imported.error().text(), Catch::Contains("it is the store itself"));
}

TEST_CASE_METHOD(Fixture, "an OCI layout is applied layer by layer, for this machine",
                 "[images][layers]") {
  const Layout layout(scratch);
  const std::string layers = layout.layer(Tar().file("a", "1").file("b", "1")) + "," +
                             layout.layer(Tar().file(".wh.a", "").file("c", "2"));
  const std::string path =
      layout.index(layout.manifest(layout.layer(Tar().file("x", "")), platform("s390x")) + "," +
                   layout.manifest(layers, here()));

  auto imported = store.import("n", path);

  REQUIRE(imported);
  const std::string rootfs = imported->image.rootfs;
  CHECK_FALSE(exists(rootfs + "/a"));
  CHECK((content_of(rootfs + "/b") == "1" && content_of(rootfs + "/c") == "2"));
  const images::ImageConfig wanted{{"A=1"}, "/w", "7", {"/e"}, {"c"}, std::nullopt};
  CHECK(store.find("n")->config == wanted);
}

TEST_CASE_METHOD(Fixture, "an OCI layout that is wrong is refused, and the wrong thing named",
                 "[images][layers]") {
  const Layout layout(scratch);
  const std::string layer = layout.layer(Tar().file("a", "1"));
  std::string wrong_size = layer;
  wrong_size.replace(wrong_size.find("\"size\": "), 8, "\"size\": 1");
  std::string absent = layer;
  absent[absent.find("sha256:") + 9] = absent[absent.find("sha256:") + 9] == 'a' ? 'b' : 'a';
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {layout.manifest(layer, platform("s390x")), "holds no image for linux/"},
      {layout.manifest(layer, here()) + "," + layout.manifest("", here()), "several images"},
      {"", "holds no image for"},
      {layout.manifest(wrong_size, here()), "bytes, not the"},
      {layout.manifest(absent, here()), "is missing"},
      {R"({"digest": "sha256:../../etc/passwd", "size": 1})", "manifests[0].digest: must be"},
      {R"({"digest": 7})", "index.json: manifests[0].digest: must be a string"},
      {layout.manifest(layout.blob("text/plain", "x"), here()), "is not a layer that zygo can"},
      {layout.manifest(layer, here(), R"({"config": {"Env": ["A"]}})"), "config.Env[0]: must be"},
      {layout.manifest(layer, here(), R"({"os": "windows"})"), "the image is for windows"},
      {layout.manifest(layout.layer(Tar().file("../x", "")), here()), "leaves the root"},
  };

  for (const auto& [index, why] : wrong) {
    CAPTURE(why);
    auto imported = store.import("n", layout.index(index));
    REQUIRE_FALSE(imported);
    CHECK_THAT(imported.error().text(), Catch::Contains(why));
    CHECK(contents() == 0);
  }
}

TEST_CASE_METHOD(Fixture, "a blob that is not what its name says is refused", "[images][layers]") {
  const Layout layout(scratch);
  const std::string bytes = Tar().file("a", "1").bytes();
  const std::string path =
      layout.index(layout.manifest(layout.layer(Tar().file("a", "1")), here()));
  std::string other = bytes;
  other[512] = '2';
  scratch.write("oci/blobs/sha256/" + images::sha256_of(bytes), other);

  auto imported = store.import("n", path);

  REQUIRE_FALSE(imported);
  CHECK_THAT(imported.error().text(), Catch::Contains("is not what its name says"));
}

TEST_CASE_METHOD(Fixture, "a blob that leads out of the layout is refused", "[images][layers]") {
  const Layout layout(scratch);
  const std::string bytes = Tar().file("a", "1").bytes();
  const std::string path =
      layout.index(layout.manifest(layout.layer(Tar().file("a", "1")), here()));
  const std::string blob = scratch.path("oci/blobs/sha256/" + images::sha256_of(bytes));
  std::filesystem::rename(blob, scratch.path("outside"));
  std::filesystem::create_symlink(scratch.path("outside"), blob);

  auto imported = store.import("n", path);

  REQUIRE_FALSE(imported);
  CHECK_THAT(imported.error().text(), Catch::Contains("leads out of the image's directory"));
}

TEST_CASE_METHOD(Fixture, "what docker save writes is applied, links between layers followed",
                 "[images][layers]") {
  const std::string layer = Tar().file("a", "1").bytes();
  const std::string id = "\"sha256:" + images::sha256_of(layer) + "\"";
  const std::string config = R"({"rootfs": {"diff_ids": [)" + id + "," + id + "]}}";
  const std::string name = images::sha256_of(config) + ".json";
  const std::string saved =
      scratch.write("saved.tar", Tar()
                                     .file("one/layer.tar", layer)
                                     .symlink("two/layer.tar", "../one/layer.tar")
                                     .pax("path", name)
                                     .file("x", config)
                                     .file("manifest.json", R"([{"Config": ")" + name +
                                                                R"(", "RepoTags": ["t:1"],
                                "Layers": ["one/layer.tar", "two/layer.tar"]}])")
                                     .bytes());

  auto imported = store.import("n", saved);

  INFO((imported ? "" : imported.error().text()));
  REQUIRE(imported);
  CHECK(content_of(imported->image.rootfs + "/a") == "1");
  CHECK(imported->image.entries == 1);
}

TEST_CASE_METHOD(Fixture, "a layer of docker save that is not its configuration's is refused",
                 "[images][layers]") {
  const std::string config =
      R"({"rootfs": {"diff_ids": ["sha256:)" + std::string(64, '0') + "\"]}}";
  const std::string saved = scratch.write(
      "saved.tar", Tar()
                       .file("l.tar", Tar().file("a", "").bytes())
                       .file("c.json", config)
                       .file("manifest.json", R"([{"Config": "c.json", "Layers": ["l.tar"]}])")
                       .bytes());

  CHECK_THAT(store.import("n", saved).error().text(),
             Catch::Contains("l.tar: is not the layer of the image's configuration"));
}

TEST_CASE_METHOD(Fixture, "the plan of an image binds its top level and adds what is a job's own",
                 "[images][root]") {
  auto imported = store.import("n", scratch.write("r.tar", Tar()
                                                               .file("usr/bin/sh", "")
                                                               .symlink("bin", "usr/bin")
                                                               .symlink("tmp", "/etc")
                                                               .directory("proc")
                                                               .file("dev/evil", "")
                                                               .file(".zygo/evil", "")
                                                               .bytes()));
  REQUIRE(imported);

  auto plan = images::image_plan(imported->image, "/shim");

  REQUIRE(plan);
  std::string text;
  using Kind = sandbox::ImageEntry::Kind;
  for (const sandbox::ImageEntry& each : *plan) {
    if (each.kind == Kind::kBind) text += each.target + "<" + each.source + " ";
    if (each.kind == Kind::kSymlink) text += each.target + ">" + each.source + " ";
    if (each.kind == Kind::kDirectory) text += each.target + "/ ";
  }
  CHECK(text == "/bin>usr/bin /usr<" + imported->image.rootfs +
                    "/usr /dev/shm>/tmp /tmp/ /proc/ /dev/fd>/proc/self/fd "
                    "/dev/stdin>/proc/self/fd/0 /dev/stdout>/proc/self/fd/1 "
                    "/dev/stderr>/proc/self/fd/2 /.zygo</shim ");
}
