#pragma once
// A directory of plain files that poses as a group: hosts that this machine is not. Plain files do
// not vanish with rmdir as control files do, so the tree is removed by its owner.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "sandbox/cgroup/cgroup.h"
#include "sandbox/sys/file.h"

class FakeTree {
 public:
  FakeTree() {
    std::string pattern = std::filesystem::temp_directory_path() / "cgroup-test-XXXXXX";
    top_ = ::mkdtemp(pattern.data());
  }
  ~FakeTree() { std::filesystem::remove_all(top_); }
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;

  std::string dir(const std::string& name) {
    std::filesystem::create_directories(top_ / name);
    return top_ / name;
  }
  void file(const std::string& name, std::string_view text) { std::ofstream(top_ / name) << text; }
  std::string read(const std::string& name) { return sys::read_file(top_ / name).value(); }
  bool has(const std::string& name) { return std::filesystem::exists(top_ / name); }
  std::string top() const { return top_; }

 private:
  std::filesystem::path top_;
};

inline sandbox::CgroupLayout every_controller_in(const std::string& path, bool v2) {
  sandbox::CgroupLayout::Controller group{path, v2};
  return {.memory = group, .pids = group, .cpu = group, .cpuacct = group};
}

inline sandbox::CgroupLayout all_v1(const std::string& path) {
  return every_controller_in(path, false);
}
inline sandbox::CgroupLayout all_v2(const std::string& path) {
  return every_controller_in(path, true);
}
