// Archives of strangers, unpacked into a directory with a neighbour that nothing may touch. The
// first byte: whiteouts or not, whether the checksums of headers are put right, so that what is
// behind them is reached, and whether a lower layer has left links. What is made lies below the
// root, with modes of ours, and no file has a name outside.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "images/archive/archive.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/scratch.h"

namespace {

namespace fs = std::filesystem;

constexpr size_t kBlock = 512, kChecksum = 148;

// In memory where that can be had: on a disk most of the time goes to making and removing files.
std::string fresh_folder() {
  for (const char* parent : {"/dev/shm", "/tmp"}) {
    std::string name = std::string(parent) + "/zygo-fuzz-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) return name;
  }
  VERIFY(false);
}

struct Folder {
  Folder() : path(fresh_folder()) {
    VERIFY(::mkdir((path + "/root").c_str(), 0755) == 0);
    const auto canary = sys::open(path + "/canary", O_WRONLY | O_CREAT, 0600);
    VERIFY(canary && sys::write_all(canary->get(), "untouched").ok());
  }
  ~Folder() { fs::remove_all(path); }
  std::string path;
};

// Mends every block, for any may be a header; a program that checks them reads no further else.
void put_checksums_right(std::string& tar) {
  for (size_t at = 0; at + kBlock <= tar.size(); at += kBlock) {
    char* block = tar.data() + at;
    if (block[257] != 'u') continue;  // of "ustar"
    unsigned sum = 8 * ' ';
    for (size_t i = 0; i < kBlock; ++i) {
      if (i < kChecksum || i >= kChecksum + 8) sum += static_cast<unsigned char>(block[i]);
    }
    char text[8];
    std::snprintf(text, sizeof text, "%06o", sum & 0777777);
    std::memcpy(block + kChecksum, text, 7);
    block[kChecksum + 7] = ' ';
  }
}

void plant_links(const Folder& folder) {
  const std::string root = folder.path + "/root/";
  fs::create_directories(root + "usr/lib");
  const std::pair<const char*, const char*> links[] = {
      {"usr/lib", "lib"}, {"/usr", "abs"}, {"..", "x"}, {"../../..", "up"}, {"a", "a"}};
  for (const auto& [target, name] : links) fs::create_symlink(target, root + name);
}

void check_neighbours(const Folder& folder) {
  size_t entries = 0;
  for (const auto& entry : fs::directory_iterator(folder.path)) {
    VERIFY(entry.path().filename() == "root" || entry.path().filename() == "canary");
    ++entries;
  }
  struct stat info {};
  VERIFY(entries == 2 && ::lstat((folder.path + "/canary").c_str(), &info) == 0);
  VERIFY(S_ISREG(info.st_mode) && (info.st_mode & 07777) == 0600 && info.st_nlink == 1);
  VERIFY(sys::read_file(folder.path + "/canary").value() == "untouched");
}

// Half of a file, or a directory on the way to one, may be there when an archive was refused.
void check_tree(const Folder& folder, bool whole) {
  for (const auto& entry : fs::recursive_directory_iterator(folder.path + "/root")) {
    struct stat info {};
    VERIFY(::lstat(entry.path().c_str(), &info) == 0);
    if (S_ISLNK(info.st_mode)) continue;
    VERIFY(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
    const unsigned mode = info.st_mode & 07777;
    VERIFY(mode == 0755 || (S_ISREG(info.st_mode) && (mode == 0644 || (mode == 0600 && !whole))));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::MemoryFile kFile;
  fuzz::Input input(data, size);
  const uint8_t how = input.byte();
  std::string archive(input.rest());
  if ((how & 2) != 0) put_checksums_right(archive);
  kFile.hold(archive);
  const Folder folder;
  if ((how & 4) != 0) plant_links(folder);
  images::TreeLimits limits;
  limits.total = sys::kibibytes(256);
  limits.entries = 64;
  images::TreeWriter writer(sys::open(folder.path + "/root", O_RDONLY | O_DIRECTORY).value(),
                            limits);
  const auto names = (how & 1) != 0 ? images::Names::kWhiteouts : images::Names::kPlain;

  const auto done = images::unpack_archive(kFile.fd(), "archive", names, writer);

  VERIFY(done || done.error().text().starts_with("archive: "));
  VERIFY(writer.tally().entries <= limits.entries && writer.tally().bytes <= limits.total.count);
  check_neighbours(folder);
  check_tree(folder, done.ok());
  return 0;
}
