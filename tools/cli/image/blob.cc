#include "tools/cli/image/blob.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "images/store.h"
#include "runtime/builds/blobs.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/utc.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

using nlohmann::ordered_json;
using runtime::Blob;
using runtime::BlobStore;

int no(const char* command, const sys::Error& error) {
  return refuse(command,
                {error.text(), error.code() == 0 ? kExitUsage : kExitSandbox, Lines::kEscape});
}

sys::Result<BlobStore> store() { return BlobStore(TRY(images::Store::default_root()) + "/blobs"); }

std::string time_text(int64_t ns) {
  const auto since_1970 = std::chrono::duration_cast<sys::Milliseconds>(sys::Nanoseconds(ns));
  return sys::utc_text(since_1970, sys::Fraction::kNone);
}

ordered_json json_of(const Blob& blob) {
  return {{"digest", blob.digest}, {"bytes", blob.bytes}, {"used", time_text(blob.used_ns)}};
}

// One after the other: a digest for each file that is there, and the first that is not ends it.
sys::Result<std::string> put(const BlobStore& blobs, const std::string& path) {
  sys::Result<std::string> bytes = path == "-"
                                       ? sys::read_all(STDIN_FILENO, BlobStore::kLargest.count + 1)
                                       : sys::read_file(path, BlobStore::kLargest.count + 1);
  if (!bytes)
    return sys::Error::because(fmt::format("{}: {}", path, std::strerror(bytes.error().code())));
  return blobs.put(*bytes);
}

}  // namespace

int blob_put_command(const CommandLine& line) {
  auto blobs = store();
  if (!blobs) return no("blob put", blobs.error());
  for (const std::string& path : line.blob.paths) {
    sys::Result<std::string> digest = put(*blobs, path);
    if (!digest) return no("blob put", digest.error());
    say(line.common.json ? ordered_json{{"path", path}, {"digest", *digest}}.dump(
                               -1, ' ', false, ordered_json::error_handler_t::replace)
                         : *digest);
  }
  return kExitOk;
}

int blob_list_command(const CommandLine& line) {
  auto blobs = store();
  if (!blobs) return no("blob list", blobs.error());
  auto known = blobs->list();
  if (!known) return no("blob list", known.error());
  if (line.common.json) {
    ordered_json list = ordered_json::array();
    for (const Blob& blob : *known) list.push_back(json_of(blob));
    return say(list.dump(2));
  }
  std::string table = fmt::format("{:<71}  {:>12}  {}", "digest", "bytes", "used last");
  for (const Blob& blob : *known)
    table += fmt::format("\n{}  {:>12}  {}", blob.digest, blob.bytes, time_text(blob.used_ns));
  return say(table);
}

int blob_remove_command(const CommandLine& line) {
  auto blobs = store();
  if (!blobs) return no("blob remove", blobs.error());
  for (const std::string& digest : line.blob.paths) {
    if (auto removed = blobs->remove(digest); !removed) return no("blob remove", removed.error());
  }
  return kExitOk;
}

}  // namespace cli
