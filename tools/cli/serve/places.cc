#include "tools/cli/serve/places.h"

#include <fcntl.h>

#include <filesystem>
#include <utility>

#include "runtime/builds/blobs.h"
#include "sandbox/sys/file.h"

namespace cli {
namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

}  // namespace

Places::Places(const ServeOptions& options, const std::string& blobs) {
  add("/proc/self", readable_);
  if (!options.durable.empty()) add(folder_of(options.durable), writable_);
  if (!blobs.empty()) {
    for (const std::string& folder : runtime::BlobStore(blobs).folders()) add(folder, writable_);
  }
  if (!options.file_source.empty()) add(options.file_source, readable_);
}

// A missing directory is reported by the code that opens it by its name.
void Places::add(const std::string& path, std::vector<int>& into) {
  sys::Result<sys::OwnedFd> place = sys::open(path, O_PATH | O_DIRECTORY);
  if (!place) return;
  open_.push_back(std::move(place).value());
  into.push_back(open_.back().get());
}

sandbox::FrontPlan Places::plan(bool tells_users_apart) const {
  sandbox::FrontPlan plan;
  plan.readable = readable_;
  plan.writable = writable_;
  plan.tells_users_apart = tells_users_apart;
  return plan;
}

}  // namespace cli
