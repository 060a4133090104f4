#pragma once
// A problem package in a temporary folder: written file by file, removed at the end.

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tools/cli/judge/package/package.h"

namespace cli {

class PackageFolder {
 public:
  PackageFolder() {
    char name[] = "/tmp/zygo-package-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path_ = name;
  }
  PackageFolder(const PackageFolder&) = delete;
  PackageFolder& operator=(const PackageFolder&) = delete;
  ~PackageFolder() { std::filesystem::remove_all(path_); }

  // The smallest package there is.
  PackageFolder& small(const std::string& yaml = "name: small\n") {
    return file("problem.yaml", yaml).test("data/secret/1");
  }
  PackageFolder& file(const std::string& path, const std::string& content) {
    std::filesystem::create_directories((path_ / path).parent_path());
    std::ofstream(path_ / path, std::ios::binary) << content;
    return *this;
  }
  PackageFolder& test(const std::string& stem) {
    return file(stem + ".in", "1\n").file(stem + ".ans", "2\n");
  }
  PackageFolder& link(const std::string& path, const std::string& target) {
    std::filesystem::create_directories((path_ / path).parent_path());
    std::filesystem::create_symlink(target, path_ / path);
    return *this;
  }
  Folder open() const {
    auto folder = Folder::open(path_.string());
    REQUIRE(folder);
    return std::move(folder).value();
  }
  Package read() const {
    auto package = read_package(open());
    if (!package) FAIL(package.error().text());
    return std::move(package).value();
  }
  // Why it cannot be read; empty: it can.
  std::string error() const {
    auto package = read_package(open());
    return package ? "" : package.error().text();
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace cli
