#include "images/archive/zip.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/unit/images/zip.h"

namespace images {
namespace {

const ZipLimits kLimits{.bytes = sys::kibibytes(64), .members = 5};

std::vector<ZipMember> members(const std::string& archive) {
  auto read = read_zip(archive, kLimits);
  INFO((read ? "" : read.error().text()));
  REQUIRE(read);
  return std::move(read).value();
}
std::string refusal(const std::string& archive) {
  const auto read = read_zip(archive, kLimits);
  REQUIRE_FALSE(read);
  return read.error().text();
}

}  // namespace

TEST_CASE("zip: files with their contents", "[zip]") {
  const auto read = members(make_zip({{"a.txt", std::string("x\0y", 3)},
                                      {"dir/", "", AE_IFDIR, 0755},
                                      {"./dir//run", "exit", AE_IFREG, 0755},
                                      {"empty", ""}}));
  REQUIRE(read.size() == 3);
  CHECK(read[0].path == "a.txt");
  CHECK(read[0].content == std::string("x\0y", 3));
  CHECK(read[1].path == "dir/run");
  CHECK(read[2].content.empty());
  CHECK(members(make_zip({{"a", "x"}}, "compression=store")).front().content == "x");
}

TEST_CASE("zip: of two files with one name the first stays", "[zip]") {
  const auto read = members(make_zip({{"a", "1"}, {"./a", "2"}}));
  REQUIRE(read.size() == 1);
  CHECK(read.front().content == "1");
}

TEST_CASE("zip: names that lead elsewhere stay as they are, for who places them", "[zip]") {
  const auto read = members(make_zip({{"../up", "x"}, {"/etc/passwd", "x"}, {"a/../../b", "x"}}));
  CHECK(read[0].path == "../up");
  CHECK(read[1].path == "/etc/passwd");
  CHECK(read[2].path == "a/../../b");
}

TEST_CASE("zip: what is no archive is refused", "[zip]") {
  CHECK_FALSE(refusal("").empty());
  CHECK_FALSE(refusal("PK no zip").empty());
  CHECK_FALSE(refusal(std::string(1000, 'x')).empty());
}

TEST_CASE("zip: a file that is damaged, or cut, is refused", "[zip]") {
  const std::string content = "a content that is stored as it is";
  const std::string whole = make_zip({{"a.txt", content}}, "compression=store");
  std::string changed = whole;
  changed[whole.find(content) + 3] ^= 1;
  CHECK_FALSE(read_zip(changed, kLimits));
  const size_t end = whole.find(content) + content.size();
  for (size_t size = 0; size < end; ++size) {
    CAPTURE(size);
    CHECK_FALSE(read_zip(whole.substr(0, size), kLimits));
  }
}

TEST_CASE("zip: it is bounded", "[zip]") {
  const std::string bomb(100 << 10, 'x');
  CHECK(refusal(make_zip({{"a", bomb}})) == "more than 64 KB when it is extracted");
  CHECK(refusal(make_zip({{"a", bomb.substr(0, 40 << 10)}, {"b", bomb.substr(0, 40 << 10)}})) ==
        "more than 64 KB when it is extracted");
  CHECK(refusal(make_zip(
            {{"a", ""}, {"a", ""}, {"a/", "", AE_IFDIR}, {"b", ""}, {"c", ""}, {"d", ""}})) ==
        "more than 5 files");
}

TEST_CASE("zip: there must be room for what it holds", "[zip]") {
  const std::string archive = make_zip({{"ab", "xyz"}, {"c", "d"}});
  size_t left = 7;
  ZipLimits limits = kLimits;
  limits.room = [&left](size_t bytes) {
    if (bytes > left) return false;
    left -= bytes;
    return true;
  };
  CHECK(read_zip(archive, limits));
  CHECK(left == 0);
  const auto again = read_zip(archive, limits);
  REQUIRE_FALSE(again);
  CHECK(again.error().text() == "there is no room for it now");
}

TEST_CASE("zip: a member's name in an error is short and plain", "[zip]") {
  const auto damaged = [](const std::string& name) {
    std::string archive = make_zip({{name, "stored"}}, "compression=store");
    archive[archive.find("stored")] ^= 1;
    return refusal(archive);
  };
  CHECK(damaged("a\x1b\r\nb").starts_with("a???b: "));
  const std::string why = damaged(std::string(300, 'n'));
  CHECK(why.starts_with(std::string(100, 'n') + "...: "));
  CHECK(why.size() < 200);
  CHECK_FALSE(why.ends_with('\n'));
}

}  // namespace images
