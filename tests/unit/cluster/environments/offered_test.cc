// Packed environments that a router has, and what it says of them.

#include "cluster/environments/offered.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

namespace cluster {
namespace {

using Catch::StartsWith;

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("zygo-offered-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const char* name, const std::string& bytes) const {
    std::ofstream(path / name) << bytes;
    return (path / name).string();
  }
};

}  // namespace

TEST_CASE("environments: what a router offers, and says of it", "[environments]") {
  const Folder folder;
  std::vector<Offered> all;
  auto offered = offer("ml=" + folder.write("ml", "\x28\xb5\x2f\xfdrest"));
  REQUIRE(offered);
  CHECK(offered->about.bytes == 8);
  all.push_back(std::move(*offered));
  const auto read = parse_environments(environments_json(all));
  REQUIRE(read);
  CHECK(*read == std::vector<EnvironmentName>{all.front().about});
}

TEST_CASE("environments: what is wrong is named", "[environments]") {
  const Folder folder;
  CHECK(offer("ml").error().text() == "ml: expected NAME=FILE");
  CHECK_THAT(offer("a b=x").error().text(), StartsWith("a b: the name: expected"));
  CHECK_THAT(offer("ml=/no/such").error().text(), StartsWith("/no/such: "));
  const std::string plain = folder.write("plain", "#!/bin/sh\n");
  CHECK(offer("ml=" + plain).error().text() ==
        plain + ": expected a packed environment (zygo image pack)");
  CHECK_FALSE(offer("ml=" + folder.path.string()));
}

TEST_CASE("environments: a list of another kind is none", "[environments]") {
  CHECK(parse_environments(R"({"environments": []})")->empty());
  for (const char* wrong : {"", "[]", "{", R"({"environments": {}})", R"({"environments": [1]})",
                            R"({"environments": [{"name": "ml"}]})",
                            R"({"environments": [{"name": "a/b", "digest": "sha256:0"}]})",
                            R"({"environments": [{"name": "ml", "digest": "../../etc"}]})"}) {
    INFO(wrong);
    CHECK_FALSE(parse_environments(wrong));
  }
}

}  // namespace cluster
