#include "images/archive/zip.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "images/utf8_locale.h"

namespace images {

using sys::Error;
using sys::Result;

namespace {

struct FreeZip {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using ZipReader = std::unique_ptr<archive, FreeZip>;

// A member's name is the archive's: of any length, with anything in it.
Error wrong(std::string_view member, std::string_view why) {
  constexpr size_t kShown = 100;
  std::string shown(member.substr(0, kShown));
  for (char& each : shown) {
    if (each < ' ' || each == 0x7f) each = '?';  // what is no ASCII, too, as it may be cut
  }
  if (member.size() > kShown) shown += "...";
  return Error::because(fmt::format("{}{}{}", shown, shown.empty() ? "" : ": ", why));
}

Error damaged(archive* reader, std::string_view member) {
  const char* said = archive_error_string(reader);
  std::string_view why = said ? said : "the archive is damaged";
  while (why.ends_with('\n')) why.remove_suffix(1);
  return wrong(member, why);
}

std::string plain(std::string_view path) {
  std::string name;
  const bool is_absolute = path.starts_with('/');
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (!name.empty() || is_absolute) name += '/';
    name += part;
  }
  return name;
}

class Zip {
 public:
  explicit Zip(const ZipLimits& limits) : limits_(limits), reader_(archive_read_new()) {
    VERIFY(reader_ != nullptr);
  }

  Result<std::vector<ZipMember>> read(std::string_view bytes) && {
    archive_read_support_format_zip_streamable(reader_.get());
    if (archive_read_open_memory(reader_.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
      return Error::because("no zip archive");
    archive_entry* entry = nullptr;
    for (;;) {
      const int status = archive_read_next_header(reader_.get(), &entry);
      if (status == ARCHIVE_EOF) return std::move(members_);
      if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return damaged(reader_.get(), "");
      TRY(take(entry));
    }
  }

 private:
  Result<void> take(archive_entry* entry) {
    const char* name = archive_entry_pathname(entry);
    if (!name) return Error::because("a member whose name cannot be read");
    ZipMember member{.path = plain(name), .content = {}};
    if (++headers_ > limits_.members)
      return Error::because(fmt::format("more than {} files", limits_.members));
    if (archive_entry_is_encrypted(entry) != 0) return wrong(member.path, "is encrypted");
    if (!is_known_way()) return wrong(member.path, "is neither stored nor deflated");
    TRY(add(member.path.size()));
    if (archive_entry_filetype(entry) == AE_IFDIR) return {};
    if (archive_entry_filetype(entry) != AE_IFREG) return wrong(member.path, "is no file");
    TRY(read_content(member));
    member.content.shrink_to_fit();
    if (names_.insert(member.path).second) members_.push_back(std::move(member));
    return {};
  }

  // The present member is stored or deflated; other ways take far more time for a byte.
  bool is_known_way() const {
    const std::string_view way = archive_format_name(reader_.get());
    return way.find("(deflation)") != way.npos || way.find("(uncompressed)") != way.npos;
  }

  Result<void> read_content(ZipMember& member) {
    for (;;) {
      const void* bytes = nullptr;
      size_t size = 0;
      la_int64_t offset = 0;
      const int status = archive_read_data_block(reader_.get(), &bytes, &size, &offset);
      if (status == ARCHIVE_EOF) return {};
      if (status != ARCHIVE_OK) return damaged(reader_.get(), member.path);
      if (offset != static_cast<la_int64_t>(member.content.size()))
        return wrong(member.path, "has holes");
      TRY(add(size));
      member.content.append(static_cast<const char*>(bytes), size);
    }
  }

  Result<void> add(size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > limits_.bytes.count)
      return Error::because(
          fmt::format("more than {} KB when it is extracted", limits_.bytes.count / 1024));
    if (limits_.room && !limits_.room(bytes)) return Error::because("there is no room for it now");
    return {};
  }

  const ZipLimits& limits_;
  Utf8Locale utf8_;
  ZipReader reader_;
  std::vector<ZipMember> members_;
  std::set<std::string> names_;
  uint64_t bytes_ = 0;
  size_t headers_ = 0;
};

}  // namespace

Result<std::vector<ZipMember>> read_zip(std::string_view archive, const ZipLimits& limits) {
  return Zip(limits).read(archive);
}

}  // namespace images
