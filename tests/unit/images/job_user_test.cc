#include "images/job_user.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/unit/images/tar.h"

using images::find_user;
using images::JobUser;
using images_test::ScratchDirectory;

namespace {

constexpr const char* kPasswd =
    "# users\n"
    "root:x:0:0:root:/root:/bin/sh\n"
    "toor:x:0:0::/root:/bin/sh\n"
    "+::::::\n"
    "broken:x:none:7\n"
    "huge:x:4294967295:7\n"
    "app:x:1001:1002:An app,,,:/home/app:/bin/sh\n"
    "nogroup:x:1003::/:\n"
    "77:x:1004:1005::/:\n"
    "last:x:1006:1007";
constexpr const char* kGroup =
    "root:x:0:\n"
    "staff:x:50:app,last\n"
    "broken:x:-1:\n"
    "1002:x:51:\n";

std::optional<JobUser> found(std::string_view user) {
  auto result = find_user(user, kPasswd, kGroup);
  INFO(user << ": " << (result ? "" : result.error().text()));
  REQUIRE(result.ok());
  return *result;
}

std::string refusal(std::string_view user) {
  const auto result = find_user(user, kPasswd, kGroup);
  INFO(user);
  REQUIRE(!result.ok());
  CHECK(result.error().code() == 0);
  return result.error().text();
}

images::Image image_with(const ScratchDirectory& scratch, const std::string& user) {
  images::Image image;
  image.name = "mine";
  image.rootfs = scratch.path("rootfs");
  image.config.user = user;
  return image;
}

}  // namespace

TEST_CASE("an image's user is a name or a number, with or without a group", "[images][user]") {
  CHECK(found("app") == JobUser{1001, 1002});
  CHECK(found("1001") == JobUser{1001, 1002});
  CHECK(found("app:staff") == JobUser{1001, 50});
  CHECK(found("app:7") == JobUser{1001, 7});
  CHECK(found("1001:0") == JobUser{1001, 0});
  CHECK(found("app:root") == JobUser{1001, 0});
  CHECK(found("app:") == JobUser{1001, 1002});
  CHECK(found("last") == JobUser{1006, 1007});
}

TEST_CASE("a number needs no line, and has then gid 0", "[images][user]") {
  CHECK(found("4711") == JobUser{4711, 0});
  CHECK(found("4711:4712") == JobUser{4711, 4712});
  CHECK(found("2147483647") == JobUser{0x7fffffff, 0});
  CHECK(found("nogroup") == JobUser{1003, 0});
  CHECK(*find_user("65534", "", "") == JobUser{65534, 0});
}

TEST_CASE("a line whose name looks like a number is found by its name", "[images][user]") {
  CHECK(found("77") == JobUser{1004, 1005});
  CHECK(found("app:1002") == JobUser{1001, 51});
}

TEST_CASE("root, or nobody named, is no user of the image's", "[images][user]") {
  for (const char* user : {"", ":", ":staff", "root", "root:staff", "0", "0:0", "00", "toor"}) {
    INFO(user);
    CHECK(found(user) == std::nullopt);
  }
  CHECK(*find_user("root", "", "") == std::nullopt);
}

TEST_CASE("a user that cannot be found is refused by name", "[images][user]") {
  CHECK(refusal("app2") == "its user \"app2\" is not in its /etc/passwd");
  CHECK(refusal("broken") == "its user \"broken\" is not in its /etc/passwd");
  CHECK(refusal("huge") == "its user \"huge\" is not in its /etc/passwd");
  CHECK(refusal("-1") == "its user \"-1\" is not in its /etc/passwd");
  CHECK(refusal("# users") == "its user \"# users\" is not in its /etc/passwd");
  CHECK(refusal("app:nobodies") == "its user's group \"nobodies\" is not in its /etc/group");
  CHECK(refusal("app:broken") == "its user's group \"broken\" is not in its /etc/group");
  CHECK(refusal("2147483648") ==
        "its user \"2147483648\" is more than the largest id there is, 2147483647");
  CHECK(refusal("1:4294967296").find("its user's group \"4294967296\" is more") == 0);
  CHECK(refusal(std::string(1000, 'a')).find("1000 characters") != std::string::npos);
}

TEST_CASE("the tables are the image's own: links lead within it only", "[images][user]") {
  ScratchDirectory scratch;
  scratch.write("outside/passwd", "app:x:1:1::/:\n");
  scratch.write("rootfs/nix/passwd", "app:x:2001:2002::/:\n");
  scratch.make("rootfs/etc");
  const std::string link = scratch.path("rootfs/etc/passwd");
  auto lead_to = [&link](const std::string& target) {
    std::filesystem::remove(link);
    std::filesystem::create_symlink(target, link);
  };

  lead_to("/nix/passwd");
  CHECK(*images::user_of(image_with(scratch, "app")) == JobUser{2001, 2002});
  lead_to("../../outside/passwd");
  CHECK(images::user_of(image_with(scratch, "app")).error().text() ==
        "image mine: its user \"app\" is not in its /etc/passwd");
  lead_to(scratch.path("outside/passwd"));
  CHECK(!images::user_of(image_with(scratch, "app")).ok());
  lead_to("passwd");
  CHECK(!images::user_of(image_with(scratch, "7")).ok());  // a loop is no missing file
}

TEST_CASE("an image without tables has numbers for its users", "[images][user]") {
  ScratchDirectory scratch;
  scratch.make("rootfs");

  CHECK(*images::user_of(image_with(scratch, "7:8")) == JobUser{7, 8});
  CHECK(!images::user_of(image_with(scratch, "app")).ok());
  scratch.make("rootfs/etc/passwd");
  CHECK(images::user_of(image_with(scratch, "7")).error().text() ==
        "image mine: its /etc/passwd is no regular file");
}
