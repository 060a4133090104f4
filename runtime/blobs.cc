#include "runtime/blobs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "images/sha256.h"
#include "sandbox/sys/file.h"

namespace runtime {

using sys::Error;
using sys::Result;

namespace {

constexpr std::string_view kPrefix = "sha256:";

Error not_there(const std::string& digest) {
  return Error::because("no blob " + digest + " on this host (zygo blob put FILE)");
}

// The directory of one store, 0700: contents belong to who has put them.
Result<void> make_directory(const std::string& path) {
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), problem);
  if (problem) return Error::from_errno("make " + path, problem.value());
  if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST) return Error::from_errno("make " + path);
  return {};
}

int64_t nanoseconds(const timespec& t) { return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

}  // namespace

std::string BlobStore::path_of(const std::string& digest) const {
  return root_ + "/" + digest.substr(kPrefix.size());
}

Result<std::string> BlobStore::put(std::string_view bytes) const {
  if (bytes.size() > kLargest.count || bytes.size() > capacity_.count)
    return Error::because("a blob of " + std::to_string(bytes.size()) + " bytes is too large");
  std::string digest = std::string(kPrefix) + images::sha256_of(bytes);
  const std::string path = path_of(digest);
  if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0) return digest;
  TRY(make_directory(root_));
  TRY(make_room(bytes.size()));
  // Without a name until it is complete.
  sys::OwnedFd file = TRY(sys::open(root_, O_TMPFILE | O_RDWR, 0600));
  TRY(sys::write_all(file.get(), bytes));
  if (::fsync(file.get()) < 0) return Error::from_errno("write " + path);
  const std::string unnamed = "/proc/self/fd/" + std::to_string(file.get());
  if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) < 0 &&
      errno != EEXIST)
    return Error::from_errno("name " + path);
  return digest;
}

Result<std::string> BlobStore::get(const std::string& digest) const {
  if (!images::is_sha256(digest)) return Error::because("\"" + digest + "\" is no digest");
  const std::string path = path_of(digest);
  Result<std::string> bytes = sys::read_file(path, kLargest.count);
  if (!bytes && bytes.error().code() == ENOENT) return not_there(digest);
  if (!bytes) return bytes;
  if (digest != std::string(kPrefix) + images::sha256_of(*bytes))
    return Error::because("blob " + digest + ": it is damaged; remove it and put it again");
  (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return bytes;
}

Result<std::vector<Blob>> BlobStore::list() const {
  std::vector<Blob> blobs;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(root_, problem)) {
    const std::string digest = std::string(kPrefix) + entry.path().filename().string();
    struct stat info {};
    if (!images::is_sha256(digest) || ::stat(entry.path().c_str(), &info) < 0) continue;
    blobs.push_back({digest, static_cast<uint64_t>(info.st_size), nanoseconds(info.st_mtim)});
  }
  if (problem && problem.value() != ENOENT)
    return Error::from_errno("read " + root_, problem.value());
  std::sort(blobs.begin(), blobs.end(),
            [](const Blob& a, const Blob& b) { return a.used_ns > b.used_ns; });
  return blobs;
}

Result<void> BlobStore::remove(const std::string& digest) const {
  if (!images::is_sha256(digest)) return Error::because("\"" + digest + "\" is no digest");
  if (::unlink(path_of(digest).c_str()) == 0) return {};
  if (errno == ENOENT) return not_there(digest);
  return Error::from_errno("remove " + path_of(digest));
}

Result<void> BlobStore::make_room(uint64_t bytes) const {
  std::vector<Blob> blobs = TRY(list());
  uint64_t held = bytes;
  for (const Blob& blob : blobs) held += blob.bytes;
  for (; held > capacity_.count && !blobs.empty(); blobs.pop_back()) {
    held -= blobs.back().bytes;
    if (::unlink(path_of(blobs.back().digest).c_str()) < 0 && errno != ENOENT)
      return Error::from_errno("make room in " + root_);
  }
  return {};
}

Result<void> BlobStore::fill_in(Job& job) const {
  if (!job.source_blob.empty()) {
    Result<std::string> bytes = get(job.source_blob);
    if (!bytes) return std::move(bytes).error().context("source.blob");
    job.source = *std::move(bytes);
    job.source_blob.clear();
  }
  for (InputFile& file : job.files) {
    if (file.blob.empty()) continue;
    Result<std::string> bytes = get(file.blob);
    if (!bytes) return std::move(bytes).error().context("files[\"" + file.path + "\"].blob");
    file.content = *std::move(bytes);
    file.blob.clear();
  }
  return {};
}

}  // namespace runtime
