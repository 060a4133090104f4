#pragma once
// Zip archives for tests, written by libarchive.

#include <archive.h>
#include <archive_entry.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace images {

struct Zipped {
  std::string path, content;
  unsigned type = AE_IFREG, mode = 0644;
};

inline std::string make_zip(const std::vector<Zipped>& members, const char* options = "") {
  std::string bytes(size_t{1} << 22, '\0');
  size_t used = 0;
  archive* writer = archive_write_new();
  REQUIRE(archive_write_set_format_zip(writer) == ARCHIVE_OK);
  REQUIRE(archive_write_set_options(writer, options) == ARCHIVE_OK);
  REQUIRE(archive_write_open_memory(writer, bytes.data(), bytes.size(), &used) == ARCHIVE_OK);
  for (const Zipped& each : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, each.path.c_str());
    archive_entry_set_filetype(entry, each.type);
    archive_entry_set_perm(entry, each.mode);
    if (each.type == AE_IFLNK)
      archive_entry_set_symlink(entry, each.content.c_str());
    else if (each.type == AE_IFREG)
      archive_entry_set_size(entry, static_cast<la_int64_t>(each.content.size()));
    REQUIRE(archive_write_header(writer, entry) == ARCHIVE_OK);
    if (each.type == AE_IFREG)
      REQUIRE(archive_write_data(writer, each.content.data(), each.content.size()) >= 0);
    archive_entry_free(entry);
  }
  REQUIRE(archive_write_close(writer) == ARCHIVE_OK);
  archive_write_free(writer);
  bytes.resize(used);
  return bytes;
}

}  // namespace images
