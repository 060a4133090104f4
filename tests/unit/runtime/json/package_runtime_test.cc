#include "runtime/json/package_runtime.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

namespace runtime {

namespace {

// A folder of a test's own, with empty files.
class Folder {
 public:
  explicit Folder(const std::string& path) : path_(path) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  void add(const std::string& name, const std::string& text = "") const {
    std::ofstream(path_ + "/" + name) << text;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Folder scratch() { return Folder("/var/tmp/zygo-package-" + std::to_string(::getpid())); }

}  // namespace

TEST_CASE("a package is a runtime, by the name of its language and version", "[package]") {
  const Folder folder = scratch();
  folder.add("run");
  folder.add("compile");
  folder.add(".env", "A=b=c\nPATH=/bin\nnothing\n");
  const auto specs = parse_package(
      R"({"language": "cms_ioi", "version": "1.0.0", "aliases": ["cms", 5]})", folder.path());
  REQUIRE(specs.ok());
  const RuntimeSpec& spec = specs->at(0);
  CHECK(spec.name == "cms_ioi-1.0.0");
  CHECK(spec.aliases == std::vector<std::string>{"cms_ioi", "cms"});
  CHECK(spec.language == "cms_ioi");
  CHECK(spec.release == "1.0.0");
  CHECK(spec.folder == folder.path());
  CHECK(spec.run == std::vector<std::string>{"/bin/bash", folder.path() + "/run"});
  CHECK(spec.compiled());
  CHECK(spec.env == std::vector<std::pair<std::string, std::string>>{
                        {"A", "b=c"}, {"PATH", "/bin"}, {"PISTON_LANGUAGE", "cms_ioi"}});
}

TEST_CASE("a package may provide several languages", "[package]") {
  const Folder folder = scratch();
  folder.add("run");
  const std::string info = R"({"language": "gcc", "version": "10.2.0",
      "provides": [{"language": "c"}, {"language": "c++", "aliases": ["g++"]}]})";
  const auto specs = parse_package(info, folder.path());
  REQUIRE(specs.ok());
  REQUIRE(specs->size() == 2);
  CHECK(specs->at(1).name == "c++-10.2.0");
  CHECK_FALSE(specs->at(0).compiled());
  CHECK(specs->at(0).run.at(1) == "-c");  // its environment is made before each run
}

TEST_CASE("what is no package is refused, and told by its folder", "[package]") {
  const Folder folder = scratch();
  for (const char* info :
       {"", "[]", "{}", R"({"language": "a"})", R"({"version": "1"})",
        R"({"language": "../a", "version": "1"})", R"({"language": "a", "version": "1/2"})",
        R"({"language": "a", "version": "1", "provides": [1]})"}) {
    INFO(info);
    folder.add("run");
    const auto specs = parse_package(info, folder.path());
    REQUIRE_FALSE(specs.ok());
    CHECK(specs.error().text().find(folder.path()) != std::string::npos);
  }
  std::filesystem::remove(folder.path() + "/run");
  CHECK_FALSE(parse_package(R"({"language": "a", "version": "1"})", folder.path()).ok());
  CHECK_FALSE(load_packages(folder.path()).ok());
}

TEST_CASE("a tree of packages is read by language and version", "[package]") {
  const Folder tree = scratch();
  for (const char* place : {"a/1.0.0", "a/2.0.0", "b/1.0.0", "c/none"}) {
    std::filesystem::create_directories(tree.path() + "/" + place);
    if (place[0] == 'c') continue;
    const std::string inside = std::string(place) + "/";
    tree.add(inside + "run");
    tree.add(inside + "metadata.json", std::string(R"({"language": ")") + place[0] +
                                           R"(", "version": ")" + (place + 2) + R"("})");
  }
  const auto specs = load_packages(tree.path());
  REQUIRE(specs.ok());
  CHECK(specs->size() == 3);
  CHECK(specs->at(1).name == "a-2.0.0");
}

TEST_CASE("a package below /tmp would not be seen", "[package]") {
  const Folder folder("/tmp/zygo-package-" + std::to_string(::getpid()));
  folder.add("run");
  folder.add("metadata.json", R"({"language": "a", "version": "1"})");
  const auto specs = load_packages(folder.path());
  REQUIRE_FALSE(specs.ok());
  CHECK(specs.error().text().find("/tmp") != std::string::npos);
}

}  // namespace runtime
