// Entries of the build cache. An odd first byte: the rest as it stands; an even one: as the body of
// an entry whose digest and key are in order, so that what lies behind them is reached. What is
// read holds paths of the working directory only, and is written again byte by byte.

#include <string>

#include "images/sha256.h"
#include "runtime/builds/build_cache.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string kKey(64, 'a');
  fuzz::Input input(data, size);
  const bool plain = input.flag();
  std::string entry(input.rest());
  if (!plain) {
    const std::string body = kKey + entry;
    entry = "zygo build 1\n" + images::sha256_of(body) + "\n" + body;
  }
  const auto build = runtime::decode_build(entry, kKey);
  if (!build) {
    VERIFY(!build.error().text().empty() && build.error().code() == 0);
    return 0;
  }
  VERIFY(!build->files.empty() && build->built_us >= 0);
  for (const runtime::InputFile& file : build->files) {
    VERIFY(!file.path.empty() && file.path.front() != '/' && file.blob.empty());
    VERIFY(("/" + file.path + "/").find("/../") == std::string::npos);
  }
  VERIFY(runtime::encode_build(kKey, *build) == entry);
  return 0;
}
