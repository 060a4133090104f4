#include "runtime/builds/blobs.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

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

}  // namespace

BoundedFiles BlobStore::files_of_tenants() const {
  return {files_.root() + "-of-tenants", files_.capacity(), BoundedFiles::Owners::kMany};
}

BlobStore BlobStore::of(const std::string& tenant) const {
  if (tenant.empty()) return *this;
  return {files_of_tenants(), tenant};
}

std::vector<std::string> BlobStore::folders() const {
  return {files_.root(), files_of_tenants().root()};
}

Result<void> BlobStore::make_folders() const {
  TRY(files_.make_folder());
  return files_of_tenants().make_folder();
}

std::string BlobStore::name_of(const std::string& digest) const {
  const std::string plain = digest.substr(kPrefix.size());
  if (tenant_.empty()) return plain;
  constexpr size_t kHalf = BoundedFiles::kOwnerDigits;
  const std::string owner = images::sha256_of(tenant_);
  // Half a digest is enough to find it by: the whole one is checked against the content.
  return owner.substr(0, kHalf) + images::sha256_of(owner + plain).substr(0, kHalf);
}

Result<std::string> BlobStore::put(std::string_view bytes) const {
  if (bytes.size() > kLargest.count || bytes.size() > files_.capacity().count)
    return Error::because("a blob of " + std::to_string(bytes.size()) + " bytes is too large");
  std::string digest = std::string(kPrefix) + images::sha256_of(bytes);
  TRY(files_.put(name_of(digest), bytes, BoundedFiles::Survives::kPowerLoss));
  return digest;
}

Result<std::string> BlobStore::get(const std::string& digest) const {
  if (!images::is_sha256(digest)) return Error::because("\"" + digest + "\" is no digest");
  Result<std::string> bytes = sys::read_file(files_.path_of(name_of(digest)), kLargest.count);
  if (!bytes && bytes.error().code() == ENOENT) return not_there(digest);
  if (!bytes) return bytes;
  if (digest != std::string(kPrefix) + images::sha256_of(*bytes))
    return Error::because("blob " + digest + ": it is damaged; remove it and put it again");
  static_cast<void>(files_.touch(name_of(digest)));
  return bytes;
}

Result<uint64_t> BlobStore::size_of(const std::string& digest) const {
  if (!images::is_sha256(digest)) return Error::because("\"" + digest + "\" is no digest");
  struct stat info {};
  if (::stat(files_.path_of(name_of(digest)).c_str(), &info) == 0)
    return static_cast<uint64_t>(info.st_size);
  return errno == ENOENT ? not_there(digest) : Error::from_errno("stat blob " + digest);
}

Result<std::vector<Blob>> BlobStore::list() const {
  std::vector<Blob> blobs;
  for (const KeptFile& file : TRY(files_.list()))
    blobs.push_back({std::string(kPrefix) + file.name, file.bytes, file.used_ns});
  return blobs;
}

Result<void> BlobStore::remove(const std::string& digest) const {
  if (!images::is_sha256(digest)) return Error::because("\"" + digest + "\" is no digest");
  auto removed = files_.remove(name_of(digest));
  if (!removed && removed.error().code() == ENOENT) return not_there(digest);
  return removed;
}

Result<void> BlobStore::fill_in(std::vector<InputFile>& files, const std::string& field) const {
  for (InputFile& file : files) {
    if (file.blob.empty()) continue;
    Result<std::string> bytes = get(file.blob);
    if (!bytes) return std::move(bytes).error().context(field + "[\"" + file.path + "\"].blob");
    file.content = *std::move(bytes);
    file.blob.clear();
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
  TRY(fill_in(job.files, "files"));
  for (size_t i = 0; i < job.tests.size(); ++i)
    TRY(fill_in(job.tests[i].files, "tests[" + std::to_string(i) + "].files"));
  if (job.checker) TRY(fill_in(job.checker->files, "checker.files"));
  if (job.interactor) TRY(fill_in(job.interactor->files, "interactor.files"));
  return {};
}

bool names_blobs(const Job& job) {
  const auto named = [](const std::vector<InputFile>& files) {
    return std::any_of(files.begin(), files.end(),
                       [](const InputFile& file) { return !file.blob.empty(); });
  };
  const bool in_tests = std::any_of(job.tests.begin(), job.tests.end(),
                                    [&named](const TestCase& test) { return named(test.files); });
  const bool in_judge = (job.checker && named(job.checker->files)) ||
                        (job.interactor && named(job.interactor->files));
  return !job.source_blob.empty() || named(job.files) || in_tests || in_judge;
}

}  // namespace runtime
