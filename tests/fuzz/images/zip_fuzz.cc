// The additional files of a submission to Judge0's API. The bounds hold whatever an archive says.

#include <set>

#include "images/archive/zip.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const images::ZipLimits kLimits{.bytes = sys::kibibytes(64), .members = 20};
  const std::string_view archive(reinterpret_cast<const char*>(data), size);
  const auto members = images::read_zip(archive, kLimits);
  if (!members) {
    VERIFY(!members.error().text().empty());
    return 0;
  }
  VERIFY(members->size() <= kLimits.members);
  uint64_t bytes = 0;
  std::set<std::string> names;
  for (const images::ZipMember& member : *members) {
    bytes += member.content.size() + member.path.size();
    VERIFY(names.insert(member.path).second);
    VERIFY(!member.path.starts_with("./") && member.path.find("//") == std::string::npos);
  }
  VERIFY(bytes <= kLimits.bytes.count);
  return 0;
}
