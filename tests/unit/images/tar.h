#pragma once
// Hostile and honest tar archives for tests, written by hand: what no sane tool would write must be
// writable. And a directory that goes when the test ends.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "sandbox/sys/file.h"

namespace images_test {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string pattern = "/tmp/zygo-images-XXXXXX";
    VERIFY(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(const std::string& name = "") const {
    return name.empty() ? path_ : path_ + "/" + name;
  }
  std::string make(const std::string& name) const {
    std::filesystem::create_directories(path(name));
    return path(name);
  }
  std::string write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  std::string path_;
};

inline std::string content_of(const std::string& path) {
  auto text = sys::read_file(path);
  return text ? *text : "(no file)";
}

inline bool exists(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

// One archive, member by member.
class Tar {
 public:
  Tar& member(std::string_view name, char type, std::string_view content = "",
              std::string_view link = "", unsigned mode = 0644, uint64_t claimed = UINT64_MAX) {
    char header[512] = {};
    std::memcpy(header, name.data(), std::min(name.size(), size_t{100}));
    std::snprintf(header + 100, 8, "%07o", mode);
    std::snprintf(header + 108, 8, "%07o", 0);
    std::snprintf(header + 116, 8, "%07o", 0);
    const uint64_t size = claimed == UINT64_MAX ? content.size() : claimed;
    put_size(header + 124, size);
    std::snprintf(header + 136, 12, "%011o", 1700000000u);
    header[156] = type;
    std::memcpy(header + 157, link.data(), std::min(link.size(), size_t{100}));
    std::memcpy(header + 257, "ustar\00000", 8);
    std::memset(header + 148, ' ', 8);
    unsigned sum = 0;
    for (unsigned char c : header) sum += c;
    std::snprintf(header + 148, 8, "%06o", sum);
    bytes_.append(header, sizeof header);
    bytes_ += content;
    bytes_.resize((bytes_.size() + 511) / 512 * 512);
    return *this;
  }
  Tar& file(std::string_view name, std::string_view content, unsigned mode = 0644) {
    return member(name, '0', content, "", mode);
  }
  Tar& directory(std::string_view name) { return member(name, '5', "", "", 0755); }
  Tar& symlink(std::string_view name, std::string_view to) { return member(name, '2', "", to); }
  Tar& hard_link(std::string_view name, std::string_view to) { return member(name, '1', "", to); }
  // A pax header for the member that follows.
  Tar& pax(std::string_view key, std::string_view value) {
    const std::string rest = " " + std::string(key) + "=" + std::string(value) + "\n";
    size_t length = rest.size() + 1;
    while (std::to_string(length).size() + rest.size() != length) ++length;
    return member("pax", 'x', std::to_string(length) + rest);
  }
  Tar& gnu_long_name(std::string_view name) {
    return member("././@LongLink", 'L', std::string(name) + '\0');
  }
  std::string bytes() const { return bytes_ + std::string(1024, '\0'); }
  std::string without_mark() const { return bytes_; }

 private:
  static void put_size(char* field, uint64_t size) {
    if (size < (uint64_t{1} << 33)) {
      std::snprintf(field, 12, "%011llo", static_cast<unsigned long long>(size));
      return;
    }
    field[0] = static_cast<char>(0x80);  // base 256
    for (int i = 11; i > 3; --i, size >>= 8) field[i] = static_cast<char>(size & 255);
  }
  std::string bytes_;
};

}  // namespace images_test
