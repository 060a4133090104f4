#include "runtime/sessions/node_disk.h"

#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sandbox/sys/file.h"

namespace runtime {
namespace {

class TempDir {
 public:
  TempDir() : path_(::mkdtemp(name_)) {}
  ~TempDir() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  char name_[32] = "/tmp/zygo-nodes-XXXXXX";
  const std::string path_;
};

std::string random_bytes(size_t count) {
  std::mt19937_64 chance(7);
  std::string bytes(count, '\0');
  for (char& each : bytes) each = static_cast<char>(chance());
  return bytes;
}

std::shared_ptr<const NodeContents> contents_of(std::string_view bytes) {
  auto contents = std::make_shared<NodeContents>();
  contents->bytes = bytes.size();
  contents->file = new_node_file(bytes.size()).value();
  REQUIRE(sys::write_all(contents->file.get(), bytes));
  return contents;
}

NodeState state_of(std::vector<std::shared_ptr<const NodeContents>> files) {
  NodeState state;
  state.bytes = files.front()->bytes;
  state.files = std::move(files);
  return state;
}

std::string bytes_of(const NodeContents& contents) {
  std::string bytes(contents.bytes, '\0');
  REQUIRE(::pread(contents.file.get(), bytes.data(), bytes.size(), 0) ==
          static_cast<ssize_t>(bytes.size()));
  return bytes;
}

using Amount = NodeBudget::Amount;
using Holds = std::vector<NodeBudget::Hold>;

NodeBudget::Hold any(Amount /*wanted*/) { return std::make_shared<int>(); }
NodeBudget::Hold none(Amount /*wanted*/) { return nullptr; }
Holds any_of(const std::vector<uint64_t>& files) {
  return Holds(files.size(), std::make_shared<int>());
}
Holds none_of(const std::vector<uint64_t>& /*files*/) { return {}; }

}  // namespace

TEST_CASE("contents come back from the disk as they were", "[nodes]") {
  const TempDir folder;
  auto disk = NodeDisk::open(folder.path()).value();
  for (const std::string& bytes : {std::string(4096, 'a'), random_bytes(256 << 10),
                                   random_bytes((3 << 20) + 4096), std::string(20 << 20, '\0')}) {
    auto contents = contents_of(bytes);
    const auto stored = disk->write(state_of({contents}), any).value();
    contents.reset();
    const auto state = disk->read(*stored, any_of).value();
    REQUIRE(state->files.size() == 1);
    CHECK(state->bytes == bytes.size());
    CHECK(bytes_of(*state->files.front()) == bytes);
    CHECK(::ftruncate(state->files.front()->file.get(), 0) < 0);  // it is sealed
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("what takes little room takes little on the disk", "[nodes]") {
  const TempDir folder;
  auto disk = NodeDisk::open(folder.path()).value();
  Amount taken;
  const auto count = [&taken](Amount wanted) {
    taken.bytes += wanted.bytes;
    taken.files += wanted.files;
    return any(wanted);
  };
  REQUIRE(disk->write(state_of({contents_of(std::string(8 << 20, 'x'))}), count));
  CHECK(taken.bytes < (8 << 20) / 100);
  CHECK(taken.files == 1);
}

TEST_CASE("room on the disk is asked for before it is used", "[nodes]") {
  const TempDir folder;
  auto disk = NodeDisk::open(folder.path()).value();
  uint64_t left = 1 << 20;
  const auto some = [&left](Amount wanted) -> NodeBudget::Hold {
    if (wanted.bytes > left) return nullptr;
    left -= wanted.bytes;
    return std::make_shared<int>();
  };
  CHECK_FALSE(disk->write(state_of({contents_of(random_bytes(4 << 20))}), some));
  CHECK(left < 512 << 10);
}

TEST_CASE("what states share is on the disk once, and in memory once", "[nodes]") {
  const TempDir folder;
  auto disk = NodeDisk::open(folder.path()).value();
  auto common = contents_of(random_bytes(64 << 10));
  auto first = disk->write(state_of({common}), any).value();
  auto second = disk->write(state_of({contents_of("own"), common}), any).value();
  CHECK(second->files[1] == first->files[0]);
  auto in_memory = disk->read(*second, any_of).value();
  CHECK(in_memory->files[1] == common);  // which is there
  in_memory.reset();
  common.reset();
  in_memory = disk->read(*second, any_of).value();
  CHECK(disk->read(*first, any_of).value()->files[0] == in_memory->files[1]);
}

TEST_CASE("without room nothing is written, or read", "[nodes]") {
  const TempDir folder;
  auto disk = NodeDisk::open(folder.path()).value();
  auto contents = contents_of("bytes");
  CHECK(disk->write(state_of({contents}), none).error().text() == "no room on the disk for nodes");
  const auto stored = disk->write(state_of({contents}), any).value();
  contents.reset();
  CHECK(disk->read(*stored, none_of).value() == nullptr);
  CHECK(disk->read(*stored, any_of));
}

TEST_CASE("contents that were changed on the disk are no contents", "[nodes]") {
  const TempDir folder;
  auto disk = NodeDisk::open(folder.path()).value();
  const std::string bytes = random_bytes(600 << 10);
  const auto damaged = [&](const std::function<void(int)>& damage) {
    const auto stored = disk->write(state_of({contents_of(bytes)}), any).value();
    damage(stored->files.front()->file.get());
    const auto read = disk->read(*stored, any_of);
    return read ? "" : read.error().text();
  };
  const char other = '?';
  CHECK_FALSE(damaged([&](int file) { CHECK(::pwrite(file, &other, 1, 300'000) == 1); }).empty());
  CHECK_FALSE(damaged([&](int file) { CHECK(::pwrite(file, &other, 1, 0) == 1); }).empty());
  CHECK_FALSE(damaged([&](int file) { CHECK(::ftruncate(file, 100'000) == 0); }).empty());
  CHECK_FALSE(damaged([&](int file) { CHECK(::ftruncate(file, 0) == 0); }).empty());
}

TEST_CASE("a folder that is not there is no place for nodes", "[nodes]") {
  CHECK(NodeDisk::open("/nonexistent/folder").error().text() ==
        "open /nonexistent/folder: No such file or directory");
}

}  // namespace runtime
