#include "images/pack.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "images/archive/writer.h"
#include "images/host_image.h"
#include "images/json/record.h"
#include "tests/unit/images/tar.h"

using images::obtain_environment;
using images::pack_environment;
using images::PythonEnvironment;
using images_test::content_of;
using images_test::exists;
using images_test::ScratchDirectory;
using images_test::Tar;

namespace {

constexpr std::string_view kSeen = "/shared/env";

// An environment of a few files, which jobs are to see in /shared/env.
struct Fixture {
  Fixture() {
    scratch.write("env/bin/tool", "#!/bin/sh\n");
    std::filesystem::permissions(env + "/bin/tool", std::filesystem::perms{0755});
    scratch.write("env/lib/größe.py", "x = 1\n");
    std::filesystem::create_symlink("tool", env + "/bin/link");
    python = {std::string(kSeen) + "/bin/tool", {{std::string(kSeen), env}}, {}};
  }
  std::string packed() {
    REQUIRE(pack_environment(scratch.path("packing"), python, archive));
    return archive;
  }
  std::string pack_again() {
    const std::string second = scratch.path("second.tar.zst");
    REQUIRE(pack_environment(scratch.path("packing"), python, second));
    return content_of(second);
  }

  ScratchDirectory scratch;
  std::string env = scratch.make("env");
  std::string root = scratch.path("store");
  std::string archive = scratch.path("env.tar.zst");
  PythonEnvironment python;
};

// An archive with any first member, as somebody else could make it.
std::string archive_with(const ScratchDirectory& scratch, const std::string& record) {
  const std::string path = scratch.path("made.tar.zst"), tree = scratch.make("tree");
  scratch.write("tree/a", "a");
  const auto file = sys::open(path, O_WRONLY | O_CREAT | O_TRUNC);
  const auto directory = sys::open(tree, O_RDONLY | O_DIRECTORY);
  REQUIRE(images::write_archive(directory->get(), {images::kPackRecord, record}, file->get(), 0));
  return path;
}

TEST_CASE_METHOD(Fixture, "what is packed is unpacked elsewhere as it was", "[images][pack]") {
  REQUIRE(images::looks_packed(packed()));
  std::filesystem::remove_all(env);

  auto image = obtain_environment(root, archive);

  REQUIRE(image);
  CHECK(image->config.python == python);
  const std::string there = image->rootfs + env;
  CHECK(content_of(there + "/bin/tool") == "#!/bin/sh\n");
  CHECK(::access((there + "/bin/tool").c_str(), X_OK) == 0);
  CHECK(std::filesystem::read_symlink(there + "/bin/link") == "tool");
  CHECK(content_of(there + "/lib/größe.py") == "x = 1\n");
  CHECK_FALSE(exists(image->rootfs + "/" + images::kPackRecord));
  CHECK_FALSE(exists(scratch.path("packing/images/rootfs")));
}

TEST_CASE_METHOD(Fixture, "the same environment gives the same bytes, another one others",
                 "[images][pack]") {
  const std::string first = content_of(packed());
  CHECK(pack_again() == first);
  scratch.write("env/lib/more.py", "");
  CHECK(pack_again() != first);
}

TEST_CASE_METHOD(Fixture, "the second use reads the start of the archive only", "[images][pack]") {
  std::string noise;
  for (uint64_t i = 0, x = 1; i < 300'000; ++i) {
    x = x * 6364136223846793005 + 1442695040888963407;
    noise += {static_cast<char>(x >> 33), static_cast<char>(x >> 41), static_cast<char>(x >> 49)};
  }
  scratch.write("env/z", noise);
  const auto before = obtain_environment(root, packed());
  REQUIRE(before);
  std::filesystem::resize_file(archive, 400'000);

  const auto after = obtain_environment(root, archive);

  REQUIRE(after);
  CHECK(after->digest == before->digest);
  CHECK_FALSE(obtain_environment(scratch.path("another"), archive));
}

TEST_CASE_METHOD(Fixture, "of many who ask at once one unpacks", "[images][pack]") {
  packed();
  std::atomic<int> unpacked{0}, good{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      bool mine = false;
      const auto watch = [&mine](const images::Milestone& at) {
        mine = mine || at.work == "unpacking";
        return images::Wish::kGoOn;
      };
      good += obtain_environment(root, archive, watch).ok() ? 1 : 0;
      unpacked += mine ? 1 : 0;
    });
  }
  threads.clear();

  CHECK(good == 16);
  CHECK(unpacked == 1);
}

TEST_CASE_METHOD(Fixture, "an archive that is not what it says of itself is refused by name",
                 "[images][pack]") {
  images::ImageConfig config;
  config.python = python;
  const std::string claimed = "sha256:" + std::string(64, '0');

  const auto image =
      obtain_environment(root, archive_with(scratch, images::to_json({claimed, config})));

  REQUIRE_FALSE(image);
  CHECK(image.error().text().starts_with(scratch.path("made.tar.zst: it is not what it says")));
  CHECK(std::filesystem::is_empty(root + "/names"));
  CHECK(std::filesystem::is_empty(root + "/images"));
}

TEST_CASE_METHOD(Fixture, "a record that leads elsewhere is refused, and the field named",
                 "[images][pack]") {
  images::ImageConfig config;
  auto complaint = [&](const PythonEnvironment& wrong) {
    config.python = wrong;
    const std::string record = images::to_json({"sha256:" + std::string(64, '0'), config});
    return obtain_environment(root, archive_with(scratch, record)).error().text();
  };
  const std::string where = scratch.path("made.tar.zst: ") + images::kPackRecord + ": ";

  CHECK(complaint({"/e/python", {{"/e", "/a/../../etc"}}, {}}) ==
        where + "config.python.directories: must hold absolute paths without \".\" and \"..\"");
  CHECK(complaint({"bin/python", {{"/e", "/e"}}, {}}) ==
        where + "config.python.interpreter: must be an absolute path without \".\" and \"..\"");
  CHECK(complaint({"/e/python", {}, {}}) == where + "config.python.directories: must not be empty");
}

TEST_CASE_METHOD(Fixture, "what the host lacks of an environment is named", "[images][pack]") {
  python.needs = {{"/usr/lib/python9.9", "/usr/lib/python9.9"}, {"/bin/sh", "/bin/another"}};
  packed();

  const auto image = obtain_environment(root, archive);

  REQUIRE_FALSE(image);
  CHECK(image.error().text().find("/usr/lib/python9.9") != std::string::npos);
  CHECK(image.error().text().find("/bin/sh (it led to /bin/another, here it leads to /") !=
        std::string::npos);
  CHECK_FALSE(exists(root));
}

TEST_CASE("a file that is no packed environment is told apart", "[images][pack]") {
  ScratchDirectory scratch;
  const std::string tar = scratch.write("a.tar", Tar().file("a", "a").bytes());

  CHECK_FALSE(images::looks_packed("/bin/sh"));
  CHECK_FALSE(images::looks_packed(scratch.path("none")));
  CHECK(obtain_environment(scratch.path("store"), tar).error().text() ==
        tar + ": is no packed environment (zygo image pack makes them)");
}

TEST_CASE_METHOD(Fixture, "the root of an environment shows its directories where they were",
                 "[images][pack]") {
  auto image = obtain_environment(root, packed());
  REQUIRE(image);

  const auto plan = images::environment_image(*image, "/shim");

  REQUIRE(plan);
  CHECK(plan->back().target == kSeen);
  CHECK(plan->back().source == image->rootfs + env);
  for (const char* taken : {"/usr", "/usr/x", "/lib/x", "/etc", "/var", "/tmp/x", "/dev/x"}) {
    image->config.python->directories = {{taken, env}};
    CHECK_FALSE(images::environment_image(*image, "/shim"));
  }
}

TEST_CASE_METHOD(Fixture, "a link in an environment leads no mount out of the image",
                 "[images][pack]") {
  std::filesystem::create_symlink("/etc", env + "/out");
  auto image = obtain_environment(root, packed());
  REQUIRE(image);
  image->config.python->directories = {{std::string(kSeen), env + "/out"}};

  const auto plan = images::environment_image(*image, "/shim");

  REQUIRE_FALSE(plan);
  CHECK(plan.error().text().find("its directory " + env + "/out") != std::string::npos);
}

}  // namespace
